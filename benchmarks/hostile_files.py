"""Files made to harm, small to send and large to read, and forms that contain them."""

import io
import struct
import zipfile
import zlib

# 40 megapixels.
BOMB_SIDE = 6_320
BOUNDARY = "benchmark-7d1f0c"
FORM = f"multipart/form-data; boundary={BOUNDARY}"


def make_form(field_name: str, content: bytes) -> bytes:
    head = (
        f"--{BOUNDARY}\r\nContent-Disposition: form-data; "
        f'name="{field_name}"; filename="file"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    return head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()


def make_image_bomb(side: int = BOMB_SIDE) -> bytes:
    """Return a PNG of side × side gray pixels in a few kilobytes."""
    rows = zlib.compressobj(9)
    line = b"\0" * ((side + 7) // 8 + 1)
    data = b"".join(rows.compress(line) for _ in range(side)) + rows.flush()
    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", data), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body))
        + name
        + body
        + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )


def make_workbook_bomb() -> bytes:
    """Return a workbook whose sheet unpacks to 500 MB."""
    file = io.BytesIO()
    namespace = "http://schemas.openxmlformats.org"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{namespace}/package/2006/content-types">'
            '<Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.'
            'openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>',
        )
        relationships = f"{namespace}/officeDocument/2006/relationships"
        for path, kind, target in (
            ("_rels/.rels", "officeDocument", "xl/workbook.xml"),
            ("xl/_rels/workbook.xml.rels", "worksheet", "worksheets/sheet1.xml"),
        ):
            archive.writestr(
                path,
                f'<Relationships xmlns="{namespace}/package/2006/relationships">'
                f'<Relationship Id="r1" Type="{relationships}/{kind}" '
                f'Target="{target}"/></Relationships>',
            )
        main = f"{namespace}/spreadsheetml/2006/main"
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{relationships}"><sheets>'
            '<sheet name="entries" sheetId="1" r:id="r1"/></sheets></workbook>',
        )
        with archive.open("xl/worksheets/sheet1.xml", "w") as sheet:
            sheet.write(f'<worksheet xmlns="{main}"><sheetData>'.encode())
            row = b"<row><c><v>1</v></c></row>" * 40_000
            for _ in range(500):
                sheet.write(row)
            sheet.write(b"</sheetData></worksheet>")
    return file.getvalue()
