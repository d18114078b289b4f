#!/usr/bin/env python3
"""Writes the blank documents that the server embeds: crates/adapters/templates/blank.{docx,xlsx,pptx}.

Each is the smallest package that word processors, spreadsheets and presentation programs open without a
repair: made here part by part, so that no author, date or printer of anybody's computer travels with it.
The output depends on nothing but this file: run it twice and the bytes are the same.
"""

import pathlib
import zipfile

TARGET = pathlib.Path(__file__).resolve().parent.parent / "crates" / "adapters" / "templates"
DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
SCHEMAS = "http://schemas.openxmlformats.org"
OFFICE = f"{SCHEMAS}/officeDocument/2006/relationships"
PACKAGE = f"{SCHEMAS}/package/2006"
DRAWING = f"{SCHEMAS}/drawingml/2006/main"
WORD = f"{SCHEMAS}/wordprocessingml/2006/main"
SHEET = f"{SCHEMAS}/spreadsheetml/2006/main"
SLIDE = f"{SCHEMAS}/presentationml/2006/main"
MEDIA = "application/vnd.openxmlformats-officedocument"


def content_types(overrides):
    """The list of parts and their media types; it must be the first entry of the archive."""
    parts = "".join(f'<Override PartName="{name}" ContentType="{MEDIA}.{kind}+xml"/>' for name, kind in overrides)
    return (
        f'<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{parts}</Types>'
    )


def relationships(targets):
    """The relationships of a part to others, given as (kind, target) pairs and named rId1, rId2 and so on."""
    items = "".join(
        f'<Relationship Id="rId{number}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{items}</Relationships>'


def write(name, parts):
    TARGET.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(TARGET / name, "w") as archive:
        for path, text in parts:
            entry = zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))
            # Stored, because two builds of zlib may compress the same text to different bytes.
            entry.compress_type = zipfile.ZIP_STORED
            entry.create_system = 0
            archive.writestr(entry, DECLARATION + text)


def docx():
    # No language: spell checking follows the editor's setting. Carlito has the metrics of Calibri.
    styles = (
        f'<w:styles xmlns:w="{WORD}"><w:docDefaults><w:rPrDefault><w:rPr>'
        '<w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:eastAsia="Calibri" w:cs="Calibri"/>'
        '<w:sz w:val="22"/><w:szCs w:val="22"/></w:rPr></w:rPrDefault>'
        '<w:pPrDefault><w:pPr><w:spacing w:after="120" w:line="264" w:lineRule="auto"/></w:pPr></w:pPrDefault>'
        "</w:docDefaults>"
        '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:qFormat/></w:style>'
        '<w:style w:type="character" w:default="1" w:styleId="DefaultParagraphFont">'
        '<w:name w:val="Default Paragraph Font"/><w:uiPriority w:val="1"/><w:semiHidden/></w:style>'
        '<w:style w:type="table" w:default="1" w:styleId="TableNormal"><w:name w:val="Normal Table"/>'
        '<w:uiPriority w:val="99"/><w:semiHidden/><w:tblPr><w:tblInd w:w="0" w:type="dxa"/><w:tblCellMar>'
        '<w:top w:w="0" w:type="dxa"/><w:left w:w="108" w:type="dxa"/><w:bottom w:w="0" w:type="dxa"/>'
        '<w:right w:w="108" w:type="dxa"/></w:tblCellMar></w:tblPr></w:style>'
        '<w:style w:type="numbering" w:default="1" w:styleId="NoList"><w:name w:val="No List"/>'
        '<w:uiPriority w:val="99"/><w:semiHidden/></w:style>'
        + "".join(
            f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/>'
            '<w:basedOn w:val="Normal"/><w:next w:val="Normal"/><w:uiPriority w:val="9"/><w:qFormat/>'
            f'<w:pPr><w:keepNext/><w:spacing w:before="240" w:after="120"/><w:outlineLvl w:val="{level - 1}"/></w:pPr>'
            f'<w:rPr><w:b/><w:bCs/><w:sz w:val="{size}"/><w:szCs w:val="{size}"/></w:rPr></w:style>'
            for level, size in ((1, 32), (2, 28), (3, 24))
        )
        + "</w:styles>"
    )
    fonts = (
        f'<w:fonts xmlns:w="{WORD}"><w:font w:name="Calibri"><w:altName w:val="Carlito"/>'
        '<w:family w:val="swiss"/><w:pitch w:val="variable"/></w:font></w:fonts>'
    )
    # A4 portrait with margins of 2.5 cm, in twentieths of a point.
    document = (
        f'<w:document xmlns:w="{WORD}"><w:body><w:p/><w:sectPr><w:pgSz w:w="11906" w:h="16838"/>'
        '<w:pgMar w:top="1417" w:right="1417" w:bottom="1417" w:left="1417" w:header="708" w:footer="708" w:gutter="0"/>'
        "</w:sectPr></w:body></w:document>"
    )
    # Without this, word processors use the layout rules of 2007 and show "compatibility mode" in the title bar.
    settings = (
        f'<w:settings xmlns:w="{WORD}"><w:defaultTabStop w:val="708"/><w:compat>'
        '<w:compatSetting w:name="compatibilityMode" w:uri="http://schemas.microsoft.com/office/word" w:val="15"/>'
        "</w:compat></w:settings>"
    )
    write(
        "blank.docx",
        [
            (
                "[Content_Types].xml",
                content_types(
                    [
                        ("/word/document.xml", "wordprocessingml.document.main"),
                        ("/word/styles.xml", "wordprocessingml.styles"),
                        ("/word/settings.xml", "wordprocessingml.settings"),
                        ("/word/fontTable.xml", "wordprocessingml.fontTable"),
                    ]
                ),
            ),
            ("_rels/.rels", relationships([("officeDocument", "word/document.xml")])),
            ("word/document.xml", document),
            (
                "word/_rels/document.xml.rels",
                relationships([("styles", "styles.xml"), ("settings", "settings.xml"), ("fontTable", "fontTable.xml")]),
            ),
            ("word/styles.xml", styles),
            ("word/settings.xml", settings),
            ("word/fontTable.xml", fonts),
        ],
    )


def xlsx():
    workbook = (
        f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><bookViews><workbookView/></bookViews>'
        '<sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>'
    )
    sheet = (
        f'<worksheet xmlns="{SHEET}"><dimension ref="A1"/><sheetViews><sheetView workbookViewId="0"/></sheetViews>'
        '<sheetFormatPr defaultRowHeight="15"/><sheetData/>'
        '<pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/>'
        '<pageSetup paperSize="9"/></worksheet>'
    )
    # The two fills are required by every reader, in this order.
    styles = (
        f'<styleSheet xmlns="{SHEET}"><fonts count="1"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>'
        '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
        '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
        '<cellXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/></cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
    )
    write(
        "blank.xlsx",
        [
            (
                "[Content_Types].xml",
                content_types(
                    [
                        ("/xl/workbook.xml", "spreadsheetml.sheet.main"),
                        ("/xl/worksheets/sheet1.xml", "spreadsheetml.worksheet"),
                        ("/xl/styles.xml", "spreadsheetml.styles"),
                    ]
                ),
            ),
            ("_rels/.rels", relationships([("officeDocument", "xl/workbook.xml")])),
            ("xl/workbook.xml", workbook),
            (
                "xl/_rels/workbook.xml.rels",
                relationships([("worksheet", "worksheets/sheet1.xml"), ("styles", "styles.xml")]),
            ),
            ("xl/worksheets/sheet1.xml", sheet),
            ("xl/styles.xml", styles),
        ],
    )


NAMESPACES = f'xmlns:a="{DRAWING}" xmlns:r="{OFFICE}" xmlns:p="{SLIDE}"'
# Every shape tree starts with the group that contains all shapes.
FRAME = (
    '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr>'
    '<p:grpSpPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="0" cy="0"/><a:chOff x="0" y="0"/><a:chExt cx="0" cy="0"/></a:xfrm></p:grpSpPr>'
)


def placeholder(number, name, kind, box=None):
    """A text placeholder. A slide inherits position and size from the placeholder of the same kind in its layout."""
    place = "<p:spPr/>"
    if box:
        left, top, width, height = box
        place = (
            f'<p:spPr><a:xfrm><a:off x="{left}" y="{top}"/><a:ext cx="{width}" cy="{height}"/></a:xfrm>'
            '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr>'
        )
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="{name}"/><p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr>'
        f"<p:nvPr><p:ph {kind}/></p:nvPr></p:nvSpPr>{place}"
        "<p:txBody><a:bodyPr/><a:lstStyle/><a:p/></p:txBody></p:sp>"
    )


def theme():
    colours = [
        ("dk1", "000000"), ("lt1", "FFFFFF"), ("dk2", "1F2A44"), ("lt2", "F2F2F2"), ("accent1", "2F6FB5"), ("accent2", "C8591B"),
        ("accent3", "4D8C3F"), ("accent4", "B3891B"), ("accent5", "7A4FA3"), ("accent6", "2B8C8C"), ("hlink", "1F5FA8"), ("folHlink", "6B4A91"),
    ]  # fmt: skip
    scheme = "".join(f'<a:{name}><a:srgbClr val="{value}"/></a:{name}>' for name, value in colours)
    font = '<a:latin typeface="Calibri"/><a:ea typeface=""/><a:cs typeface=""/>'
    # Three of each are required, from subtle to intense; here all are plain.
    fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'
    line = f'<a:ln w="9525">{fill}</a:ln>'
    return (
        f'<a:theme xmlns:a="{DRAWING}" name="Plain"><a:themeElements><a:clrScheme name="Plain">{scheme}</a:clrScheme>'
        f'<a:fontScheme name="Plain"><a:majorFont>{font}</a:majorFont><a:minorFont>{font}</a:minorFont></a:fontScheme>'
        f'<a:fmtScheme name="Plain"><a:fillStyleLst>{fill * 3}</a:fillStyleLst><a:lnStyleLst>{line * 3}</a:lnStyleLst>'
        f'<a:effectStyleLst>{"<a:effectStyle><a:effectLst/></a:effectStyle>" * 3}</a:effectStyleLst>'
        f"<a:bgFillStyleLst>{fill * 3}</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>"
    )


def pptx():
    # 16:9, in English Metric Units: 914400 to the inch.
    title_box = (838200, 365125, 10515600, 1325563)
    body_box = (838200, 1825625, 10515600, 4351338)
    presentation = (
        f'<p:presentation {NAMESPACES}><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst>'
        '<p:sldIdLst><p:sldId id="256" r:id="rId2"/></p:sldIdLst><p:sldSz cx="12192000" cy="6858000"/>'
        '<p:notesSz cx="6858000" cy="9144000"/></p:presentation>'
    )
    levels = "".join(
        f'<a:lvl{level}pPr marL="{228600 + 457200 * (level - 1)}" indent="-228600"><a:spcBef><a:spcPts val="600"/></a:spcBef>'
        f'<a:buFont typeface="Arial"/><a:buChar char="&#8226;"/><a:defRPr sz="{size}"><a:solidFill><a:schemeClr val="tx1"/></a:solidFill>'
        f'<a:latin typeface="+mn-lt"/></a:defRPr></a:lvl{level}pPr>'
        for level, size in ((1, 2800), (2, 2400), (3, 2000))
    )
    master = (
        f'<p:sldMaster {NAMESPACES}><p:cSld><p:bg><p:bgPr><a:solidFill><a:schemeClr val="bg1"/></a:solidFill><a:effectLst/></p:bgPr></p:bg>'
        f"<p:spTree>{FRAME}"
        + placeholder(2, "Title", 'type="title"', title_box)
        + placeholder(3, "Text", 'type="body" idx="1"', body_box)
        + "</p:spTree></p:cSld>"
        '<p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" accent4="accent4" '
        'accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/>'
        '<p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/></p:sldLayoutIdLst>'
        '<p:txStyles><p:titleStyle><a:lvl1pPr><a:defRPr sz="4000"><a:solidFill><a:schemeClr val="tx1"/></a:solidFill>'
        f'<a:latin typeface="+mj-lt"/></a:defRPr></a:lvl1pPr></p:titleStyle><p:bodyStyle>{levels}</p:bodyStyle><p:otherStyle/></p:txStyles></p:sldMaster>'
    )
    layout = (
        f'<p:sldLayout {NAMESPACES} type="obj"><p:cSld name="Title and text"><p:spTree>{FRAME}'
        + placeholder(2, "Title", 'type="title"')
        + placeholder(3, "Text", 'idx="1"')
        + "</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sldLayout>"
    )
    slide = (
        f"<p:sld {NAMESPACES}><p:cSld><p:spTree>{FRAME}"
        + placeholder(2, "Title", 'type="title"')
        + placeholder(3, "Text", 'idx="1"')
        + "</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sld>"
    )
    write(
        "blank.pptx",
        [
            (
                "[Content_Types].xml",
                content_types(
                    [
                        ("/ppt/presentation.xml", "presentationml.presentation.main"),
                        ("/ppt/slideMasters/slideMaster1.xml", "presentationml.slideMaster"),
                        ("/ppt/slideLayouts/slideLayout1.xml", "presentationml.slideLayout"),
                        ("/ppt/slides/slide1.xml", "presentationml.slide"),
                        ("/ppt/theme/theme1.xml", "theme"),
                    ]
                ),
            ),
            ("_rels/.rels", relationships([("officeDocument", "ppt/presentation.xml")])),
            ("ppt/presentation.xml", presentation),
            (
                "ppt/_rels/presentation.xml.rels",
                relationships(
                    [
                        ("slideMaster", "slideMasters/slideMaster1.xml"),
                        ("slide", "slides/slide1.xml"),
                        ("theme", "theme/theme1.xml"),
                    ]
                ),
            ),
            ("ppt/slideMasters/slideMaster1.xml", master),
            (
                "ppt/slideMasters/_rels/slideMaster1.xml.rels",
                relationships([("slideLayout", "../slideLayouts/slideLayout1.xml"), ("theme", "../theme/theme1.xml")]),
            ),
            ("ppt/slideLayouts/slideLayout1.xml", layout),
            (
                "ppt/slideLayouts/_rels/slideLayout1.xml.rels",
                relationships([("slideMaster", "../slideMasters/slideMaster1.xml")]),
            ),
            ("ppt/slides/slide1.xml", slide),
            ("ppt/slides/_rels/slide1.xml.rels", relationships([("slideLayout", "../slideLayouts/slideLayout1.xml")])),
            ("ppt/theme/theme1.xml", theme()),
        ],
    )


if __name__ == "__main__":
    docx()
    xlsx()
    pptx()
