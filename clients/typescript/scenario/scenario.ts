/** A member's life, from sign-up to deletion: node dist/scenario/scenario.js BASE_URL */

import assert from "node:assert/strict";

import { createClient, type LedgerClient, type Problem } from "../src/index.js";

const [baseUrl = "http://127.0.0.1:8000"] = process.argv.slice(2);
const PASSWORD = "a-long-password-1";
// One white pixel.
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4//8/AAX+Av4N70a4AAAAAElFTkSuQmCC",
  "base64",
);

interface Result<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Returns what the service answered, or throws its refusal. */
function take<T>({ data, error, response }: Result<T>): T {
  assert.ok(response.ok, `${response.url}: ${JSON.stringify(error)}`);
  return data as T;
}

function refused(result: Result<unknown>, status: number, code: string): Problem {
  assert.equal(result.response.status, status, JSON.stringify(result.error));
  const problem = result.error as Problem;
  assert.equal(problem.code, code);
  return problem;
}

/** Signs up, logs out, then logs in. */
async function join(loginId: string): Promise<LedgerClient> {
  let token: string | undefined;
  const client = createClient({ baseUrl, getToken: () => token });
  // As clients of openapi-generator do where a success has no content.
  client.use({
    onRequest({ request }) {
      request.headers.set("Accept", "application/problem+json");
      return request;
    },
  });
  const session = take(
    await client.POST("/api/auth/signup", {
      body: {
        loginId,
        password: PASSWORD,
        displayName: "김민지",
        email: `${loginId}@example.com`,
        deviceName: null,
      },
    }),
  );
  assert.equal(session.member.loginId, loginId);
  token = session.token;
  assert.equal((await client.POST("/api/auth/logout")).response.status, 204);
  refused(await client.GET("/api/auth/session"), 401, "AUTHENTICATION_REQUIRED");
  const body = { loginId, password: PASSWORD, deviceName: null };
  token = take(await client.POST("/api/auth/login", { body })).token;
  assert.equal(take(await client.GET("/api/auth/session")).loginId, loginId);
  return client;
}

async function subscribe(client: LedgerClient): Promise<void> {
  const rule = {
    body: {
      name: "월세",
      type: "expense" as const,
      amount: 600_000,
      frequency: "MONTHLY" as const,
      anchorDate: "2026-01-05",
    },
  };
  refused(await client.POST("/api/account/recurring", rule), 403, "PREMIUM_REQUIRED");
  const [product] = take(await client.GET("/api/billing/products"));
  assert.ok(product);
  const purchase = take(
    await client.POST("/api/billing/store/verify", {
      body: { productId: product.id, purchaseToken: `test-${crypto.randomUUID()}` },
    }),
  );
  assert.equal(purchase.plan, "PREMIUM");
  take(await client.POST("/api/account/recurring", rule));
}

async function keepBooks(client: LedgerClient): Promise<void> {
  const wallet = take(
    await client.POST("/api/account/wallets", {
      body: { name: "신한카드", kind: "CARD", institution: "신한카드" },
    }),
  );
  const entry = take(
    await client.POST("/api/account/entries", {
      body: {
        date: "2026-03-02",
        type: "expense",
        amount: 12_000,
        category: "점심",
        walletId: wallet.id,
        tags: ["회사"],
        memo: null,
        currency: null,
        lines: null,
        time: null,
        excluded: null,
      },
    }),
  );
  assert.deepEqual([entry.category, entry.wallet?.name], ["점심", "신한카드"]);
  const foreign = take(
    await client.POST("/api/account/entries", {
      body: {
        date: "2026-03-03",
        type: "expense",
        currency: "USD",
        originalAmount: 19.99,
        exchangeRate: 1380.5,
      },
    }),
  );
  assert.deepEqual([foreign.originalAmount, foreign.amount], [19.99, 27_596]);

  const path = { entryId: entry.id };
  const changed = await client.PATCH("/api/account/entries/{entryId}", {
    params: { path },
    body: { memo: "김밥", tags: null },
  });
  assert.deepEqual([take(changed).memo, take(changed).tags], ["김밥", []]);

  const pages = [];
  for (let page = 1, more = true; more; page += 1) {
    const query = { page, size: 1, year: 2026, month: 3 };
    const found = take(await client.GET("/api/account/entries", { params: { query } }));
    pages.push(found.results.map(({ id }) => id));
    more = found.next !== null;
  }
  assert.deepEqual(pages, [[foreign.id], [entry.id]]);

  take(
    await client.POST("/api/account/budgets", {
      body: { year: 2026, month: 3, category: "점심", amount: 200_000 },
    }),
  );
  take(
    await client.POST("/api/account/quick-entries", {
      body: { name: "커피", type: "expense", amount: 4_500 },
    }),
  );
  const query = { year: 2026, month: 3 };
  const month = take(await client.GET("/api/account/statistics/month", { params: { query } }));
  assert.deepEqual([month.expense, month.count], [39_596, 2]);
  assert.equal(take(await client.GET("/api/account/networth")).total, -12_000);

  const text = "[Web발신]\n신한카드(1234)승인 김*지 8,900원(일시불)03/04 12:30 김밥천국";
  const parsed = take(await client.POST("/api/account/entries/parse", { body: { text } }));
  assert.deepEqual([parsed.amount, parsed.merchant], [8_900, "김밥천국"]);
  const taken = await client.POST("/api/account/entries/notification", {
    body: { text, receivedAt: "2026-03-04T12:30:05+09:00" },
  });
  assert.equal(take(taken).entry?.pending, true);

  const removed = await client.DELETE("/api/account/entries/{entryId}", { params: { path } });
  assert.equal(removed.response.status, 204);
  const gone = await client.GET("/api/account/entries/{entryId}", { params: { path } });
  refused(gone, 404, "NOT_FOUND");
}

async function restore(client: LedgerClient): Promise<void> {
  const { data } = await client.GET("/api/account/backup", { parseAs: "blob" });
  assert.ok(data);
  for (const dryRun of [true, false]) {
    const fromRows = await client.POST("/api/account/restore/json", {
      params: { query: { dryRun } },
      body: {
        entries: [{ date: "2026-03-02", type: "expense", amount: 500, tags: null }],
        wallets: null,
      },
    });
    const { wallets, entries } = take(fromRows);
    assert.deepEqual([take(fromRows).dryRun, wallets, entries], [dryRun, 0, 1]);
  }
  const fromFile = take(await client.POST("/api/account/restore", { body: { file: data } }));
  assert.deepEqual([fromFile.wallets, fromFile.entries], [1, 2]);
}

async function post(author: LedgerClient, reader: LedgerClient): Promise<void> {
  const body = { image: new Blob([PNG], { type: "image/png" }) };
  const image = take(await author.POST("/api/board/images", { body }));
  const created = take(
    await author.POST("/api/board/posts", {
      body: {
        title: "장보기 비용 줄이는 법",
        category: "saving",
        content: `<p>식단부터 짭니다.</p><img src="${image.url}">`,
      },
    }),
  );
  const params = { path: { postId: created.id } };
  const comment = await reader.POST("/api/board/posts/{postId}/comments", {
    params,
    body: { content: "고맙습니다." },
  });
  assert.equal(take(comment).content, "고맙습니다.");
  const vote = { params, body: { value: "up" as const } };
  assert.equal(take(await reader.POST("/api/board/posts/{postId}/vote", vote)).upCount, 1);
  refused(await author.POST("/api/board/posts/{postId}/vote", vote), 400, "SELF_VOTE");
  const stolen = await reader.DELETE("/api/board/posts/{postId}", { params });
  refused(stolen, 403, "FORBIDDEN");
}

async function beRefused(client: LedgerClient, loginId: string): Promise<void> {
  const wallets = "/api/account/wallets";
  const invalid = { body: { name: "", kind: "CARD" as const } };
  const problem = refused(await client.POST(wallets, invalid), 400, "VALIDATION_ERROR");
  assert.deepEqual(problem.errors?.map(({ field }) => field), ["name"]);
  const again = { body: { name: "신한카드", kind: "CARD" as const } };
  refused(await client.POST(wallets, again), 409, "DUPLICATE");

  const stranger = createClient({ baseUrl, language: "ko" });
  const unknown = refused(await stranger.GET(wallets), 401, "AUTHENTICATION_REQUIRED");
  assert.match(unknown.detail, /[가-힣]/);
  const large = { body: { text: "x".repeat(3_000_000) } };
  const parsed = await client.POST("/api/account/entries/parse", large);
  refused(parsed, 413, "PAYLOAD_TOO_LARGE");
  const wrong = { body: { loginId, password: "wrong" } };
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const result = await stranger.POST("/api/auth/login", wrong);
    if (result.response.status === 429) {
      assert.ok(Number(result.response.headers.get("Retry-After")) > 0);
      refused(result, 429, "RATE_LIMITED");
      return;
    }
    refused(result, 401, "INVALID_CREDENTIALS");
  }
  assert.fail("the number of logins is not limited");
}

const loginId = `author_${Date.now()}`;
const author = await join(loginId);
const reader = await join(`reader_${Date.now()}`);
await subscribe(author);
await keepBooks(author);
await restore(author);
await post(author, reader);
await beRefused(author, loginId);
assert.equal((await author.DELETE("/api/auth/me")).response.status, 204);
refused(await author.GET("/api/auth/session"), 401, "AUTHENTICATION_REQUIRED");
console.log("scenario: passed");
