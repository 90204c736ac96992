# The service's image: web server, worker and Beat all run from it.

FROM python:3.11.15-slim-trixie AS wheels
COPY requirements.txt .
RUN python -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --require-hashes --only-binary :all: \
        -r requirements.txt


FROM python:3.11.15-slim-trixie
ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DATA_DIR=/data \
    BIND=0.0.0.0:8000

RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin ledger \
    && install --directory --owner ledger /data

COPY --from=wheels /venv /venv
WORKDIR /app
COPY . .
# The addresses are never called here: collectstatic only needs settings that parse.
RUN SECRET_KEY=only-for-this-step \
    DATABASE_URL=postgresql://ledger@localhost/ledger \
    python manage.py collectstatic --noinput

USER ledger
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/api/health/live', timeout=4)"]
CMD ["python", "-m", "config.server"]
