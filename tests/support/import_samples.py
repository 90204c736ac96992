"""Files in the formats that an import reads: made here, so that each byte is known."""

import io
import struct
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

import msoffcrypto
import pyzipper
from msoffcrypto.format.ooxml import OOXMLFile
from openpyxl import Workbook

HEADER = ["거래일시", "내용", "출금액", "입금액"]
ROWS: list[list[Any]] = [
    ["2026-09-05 13:20:00", "커피 가게", 4500, 0],
    ["2026-09-06 09:00:00", "월급", 0, 3_000_000],
]
# As the reader sends them from texts.
TEXT_ROWS = [HEADER, *([str(cell) for cell in row] for row in ROWS)]


def make_csv(rows: Sequence[Sequence[Any]] = (HEADER, *ROWS), mark: str = ",") -> str:
    return "".join(mark.join(map(str, row)) + "\r\n" for row in rows)


def make_xlsx(rows: Sequence[Sequence[Any]] = (HEADER, *ROWS)) -> bytes:
    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet("거래내역")
    for row in rows:
        sheet.append(row)
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


def encrypt_xlsx(data: bytes, password: str) -> bytes:
    output = io.BytesIO()
    OOXMLFile(io.BytesIO(data)).encrypt(password, output)
    assert msoffcrypto.OfficeFile(output).is_encrypted()
    return output.getvalue()


def make_zip(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return file.getvalue()


def repack_zip(source: bytes, changes: dict[str, str]) -> bytes:
    """Return an archive with some parts replaced or added."""
    file = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(source)) as old,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for part in old.infolist():
            if part.filename not in changes:
                new.writestr(part.filename, old.read(part))
        for name, text in changes.items():
            new.writestr(name, text)
    return file.getvalue()


def make_aes_zip(files: dict[str, bytes], password: str) -> bytes:
    file = io.BytesIO()
    with pyzipper.AESZipFile(
        file, "w", compression=pyzipper.ZIP_DEFLATED, encryption=pyzipper.WZ_AES
    ) as archive:
        archive.setpassword(password.encode())
        for name, data in files.items():
            archive.writestr(name, data)
    return file.getvalue()


def make_zip_crypto(name: str, data: bytes, password: str | bytes) -> bytes:
    """Return an archive with the old encryption, stored, which no library writes."""
    keys = [0x12345678, 0x23456789, 0x34567890]

    def update(byte: int) -> None:
        keys[0] = _crc(byte, keys[0])
        keys[1] = (keys[1] + (keys[0] & 0xFF)) * 134775813 + 1 & 0xFFFFFFFF
        keys[2] = _crc(keys[1] >> 24, keys[2])

    def encrypt(byte: int) -> int:
        key = keys[2] | 2
        update(byte)
        return byte ^ (key * (key ^ 1) >> 8 & 0xFF)

    for byte in password.encode() if isinstance(password, str) else password:
        update(byte)
    crc = zlib.crc32(data)
    head = bytes(11) + bytes([crc >> 24])
    plain = io.BytesIO()
    body = bytes(map(encrypt, head + data))
    encoded = name.encode()
    fields = struct.pack(
        "<HHHHHIIIHH", 20, 1, 0, 0, 0x5C21, crc, len(body), len(data), len(encoded), 0
    )
    plain.write(b"PK\x03\x04" + fields + encoded + body)
    start = plain.tell()
    plain.write(b"PK\x01\x02" + struct.pack("<H", 20) + fields)
    plain.write(struct.pack("<HHHII", 0, 0, 0, 0, 0) + encoded)
    size = plain.tell() - start
    plain.write(b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, size, start, 0))
    return plain.getvalue()


def _crc(byte: int, crc: int) -> int:
    """Return the checksum of one more byte, without the inversions of zlib's."""
    return zlib.crc32(bytes([byte & 0xFF]), crc ^ 0xFFFFFFFF) ^ 0xFFFFFFFF


def make_ods(*, is_encrypted: bool = False) -> bytes:
    cells = "".join(
        "<table:table-row>"
        + "".join(
            f"<table:table-cell office:value-type='string'><text:p>{cell}</text:p>"
            "</table:table-cell>"
            for cell in row
        )
        + "</table:table-row>"
        for row in TEXT_ROWS
    )
    name = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f"<office:document-content xmlns:office='{name}:office:1.0'"
        f" xmlns:table='{name}:table:1.0' xmlns:text='{name}:text:1.0'><office:body>"
        f"<office:spreadsheet><table:table table:name='Sheet1'>{cells}</table:table>"
        "</office:spreadsheet></office:body></office:document-content>"
    )
    entry = "<manifest:encryption-data/>" if is_encrypted else ""
    manifest = (
        f"<manifest:manifest xmlns:manifest='{name}:manifest:1.0'><manifest:file-entry"
        f" manifest:full-path='content.xml'>{entry}</manifest:file-entry>"
        "</manifest:manifest>"
    )
    return make_zip(
        {
            "mimetype": b"application/vnd.oasis.opendocument.spreadsheet",
            "content.xml": content.encode(),
            "META-INF/manifest.xml": manifest.encode(),
        }
    )


def make_html(rows: Sequence[Sequence[Any]] = (HEADER, *ROWS)) -> str:
    cells = "".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows
    )
    return f"<html><head><title>내역</title></head><body><table>{cells}</table></body>"


OFX_1 = """OFXHEADER:100
DATA:OFXSGML
VERSION:102
SECURITY:NONE
ENCODING:USASCII
CHARSET:1252
COMPRESSION:NONE
OLDFILEUID:NONE
NEWFILEUID:NONE

<OFX>
<SIGNONMSGSRSV1><SONRS><STATUS><CODE>0<SEVERITY>INFO</STATUS>
<DTSERVER>20260930<LANGUAGE>KOR</SONRS></SIGNONMSGSRSV1>
<BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STATUS><CODE>0<SEVERITY>INFO</STATUS>
<STMTRS><CURDEF>KRW
<BANKACCTFROM><BANKID>020<ACCTID>110-1<ACCTTYPE>CHECKING</BANKACCTFROM>
<BANKTRANLIST><DTSTART>20260901<DTEND>20260930
<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260905120000[+9:KST]<TRNAMT>-4500.00<FITID>F1
<NAME>커피 &amp; 빵<MEMO>강남점</STMTTRN>
<STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20260906<TRNAMT>3000000<FITID>F2<NAME>월급</STMTTRN>
<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260907093000<TRNAMT>-13,000<FITID>F3<NAME>Book
<ORIGCURRENCY><CURRATE>1300<CURSYM>USD</ORIGCURRENCY></STMTTRN>
</BANKTRANLIST>
<LEDGERBAL><BALAMT>2982500.00<DTASOF>20260930</LEDGERBAL>
</STMTRS></STMTTRNRS></BANKMSGSRSV1>
</OFX>
"""
OFX_2 = """<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<?OFX OFXHEADER="200" VERSION="220" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>
<OFX><CREDITCARDMSGSRSV1><CCSTMTTRNRS><TRNUID>1</TRNUID>
<STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>
<CCSTMTRS><CURDEF>KRW</CURDEF><CCACCTFROM><ACCTID>9410</ACCTID></CCACCTFROM>
<BANKTRANLIST><DTSTART>20260901</DTSTART><DTEND>20260930</DTEND>
<STMTTRN><TRNTYPE>DEBIT</TRNTYPE><DTPOSTED>20260905</DTPOSTED><TRNAMT>-4500</TRNAMT>
<FITID>C1</FITID><NAME>커피</NAME></STMTTRN>
</BANKTRANLIST><LEDGERBAL><BALAMT>-4500</BALAMT><DTASOF>20260930</DTASOF></LEDGERBAL>
</CCSTMTRS></CCSTMTTRNRS></CREDITCARDMSGSRSV1></OFX>
"""
QIF = """!Option:AutoSwitch
!Account
N통장
TBank
^
N카드
TCCard
^
!Clear:AutoSwitch
!Account
N통장
TBank
^
!Type:Bank
D9/ 1'26
T1,000,000.00
POpening Balance
L[통장]
^
D9/13'26
T-12,000
P마트
SFood:Groceries
E쌀
$-10,000
S[저금통]
$-2,000
^
D9/14'26
T-50,000
P이체
L[카드]
^
!Type:Invst
D9/15'26
NBuy
^
!Account
N카드
TCCard
^
!Type:CCard
D9/16/26
T-4,500
P커피
LFood:Cafe/회사
M진한 것
^
"""
CAMT = """<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt><Stmt>
<Id>1</Id><Acct><Id><IBAN>DE02</IBAN></Id><Ccy>EUR</Ccy></Acct>
<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">100.00</Amt>
<CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-09-01</Dt></Dt></Bal>
<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">87.66</Amt>
<CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-09-30</Dt></Dt></Bal>
<Ntry><Amt Ccy="EUR">12.34</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts>
<BookgDt><Dt>2026-09-05</Dt></BookgDt><AcctSvcrRef>R1</AcctSvcrRef><NtryDtls><TxDtls>
<RltdPties><Cdtr><Nm>Café Müller</Nm></Cdtr></RltdPties>
<RmtInf><Ustrd>Rechnung 7</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>
<Ntry><Amt Ccy="EUR">5.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>PDNG</Sts>
<BookgDt><Dt>2026-09-06</Dt></BookgDt></Ntry>
<Ntry><Amt Ccy="EUR">30.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts>
<BookgDt><Dt>2026-09-07</Dt></BookgDt><NtryDtls>
<TxDtls><Amt Ccy="EUR">10.00</Amt><RmtInf><Ustrd>a</Ustrd></RmtInf></TxDtls>
<TxDtls><Amt Ccy="EUR">20.00</Amt><RmtInf><Ustrd>b</Ustrd></RmtInf></TxDtls>
</NtryDtls></Ntry>
<Ntry><Amt Ccy="EUR">3.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><RvslInd>true</RvslInd>
<Sts>BOOK</Sts><BookgDt><Dt>2026-09-08</Dt></BookgDt></Ntry>
</Stmt></BkToCstmrStmt></Document>
"""
MT940 = """{1:F01BANKDEFFXXXX0000000000}{2:I940}{4:
:20:STARTUMS
:25:DE02/1234
:28C:00001/001
:60F:C260901EUR100,00
:61:2609050905D12,34NTRFNONREF//B1
:86:Kaffee am Markt
:61:2609070907RC3,00NTRFNONREF
:86:Storno
:62F:C260930EUR90,66
-}
:20:STARTUMS
:25:DE03/9
:28C:00001/001
:60F:C260901EUR0,00
:61:2609080908C5,00NMSCNONREF//B2
:86:Zinsen
:62F:C260930EUR5,00
-
"""
