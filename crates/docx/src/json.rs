//! Conversion between the JSON of the schema (crates/rich-text/schema.json) and [`TextDocument`]. Nothing else in this
//! crate knows names of node types.

use serde_json::{Map, Value, json};

use crate::content::{
    Align, DocxBlock, Image, Inline, Island, Item, ListItem, ListKind, Marks, NumberFormat, Paragraph, ParagraphKind,
    Script, Source, TextCell, TextDocument, TextList, TextRow, TextTable,
};
use crate::error::{DocxError, DocxResult};

/// The nesting of nodes that the schema allows.
const DEPTH_MAX: usize = 48;

pub fn to_json(document: &TextDocument) -> Value {
    let mut attrs = Map::new();
    if let Some(language) = &document.language {
        attrs.insert("language".to_owned(), json!(language));
    }
    node("doc", attrs, blocks_to_json(&document.blocks))
}

fn node(kind: &str, attrs: Map<String, Value>, content: Vec<Value>) -> Value {
    let mut node = Map::new();
    node.insert("type".to_owned(), json!(kind));
    if !attrs.is_empty() {
        node.insert("attrs".to_owned(), Value::Object(attrs));
    }
    if !content.is_empty() {
        node.insert("content".to_owned(), Value::Array(content));
    }
    Value::Object(node)
}

/// Attributes without those that are null.
fn attributes<const N: usize>(attrs: [(&str, Value); N]) -> Map<String, Value> {
    attrs
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn blocks_to_json(blocks: &[DocxBlock]) -> Vec<Value> {
    blocks.iter().map(block_to_json).collect()
}

fn block_to_json(block: &DocxBlock) -> Value {
    match block {
        DocxBlock::Paragraph(paragraph) => paragraph_to_json(paragraph),
        DocxBlock::Quote(blocks) => node("blockquote", Map::new(), blocks_to_json(blocks)),
        DocxBlock::List(list) => list_to_json(list),
        DocxBlock::Table(table) => {
            let rows = table.rows.iter().map(row_to_json).collect();
            node("table", attributes([("source", json!(table.source))]), rows)
        }
        DocxBlock::Rule(source) => node("horizontal_rule", attributes([("source", json!(source))]), Vec::new()),
        DocxBlock::PageBreak(source) => node("page_break", attributes([("source", json!(source))]), Vec::new()),
        DocxBlock::Island(island, source) => {
            let mut attrs = island_attributes(island);
            attrs.extend(attributes([("source", json!(source))]));
            node("island_block", attrs, Vec::new())
        }
    }
}

fn island_attributes(island: &Island) -> Map<String, Value> {
    attributes([
        ("id", json!(island.id)),
        ("label", json!(island.label)),
        ("kind", json!(island.kind)),
    ])
}

fn paragraph_to_json(paragraph: &Paragraph) -> Value {
    let source = ("source", json!(paragraph.source));
    let content = paragraph.content.iter().map(inline_to_json).collect();
    let align = ("align", json!(paragraph.align.map(align_name)));
    let style = ("style", json!(paragraph.style));
    match paragraph.kind {
        ParagraphKind::Code => node("code_block", attributes([source]), content),
        ParagraphKind::Body => node("paragraph", attributes([align, style, source]), content),
        ParagraphKind::Heading(level) => node(
            "heading",
            attributes([("level", json!(level)), align, style, source]),
            content,
        ),
    }
}

fn list_to_json(list: &TextList) -> Value {
    let (kind, item_kind, attrs) = match list.kind {
        ListKind::Bullet => ("bullet_list", "list_item", Map::new()),
        ListKind::Check => ("check_list", "check_item", Map::new()),
        ListKind::Ordered { start, format } => {
            let format = format_name(format);
            (
                "ordered_list",
                "list_item",
                attributes([("start", json!(start)), ("format", json!(format))]),
            )
        }
    };
    let items = list.items.iter().map(|item| {
        let checked = if list.kind == ListKind::Check {
            json!(item.checked)
        } else {
            Value::Null
        };
        node(
            item_kind,
            attributes([("checked", checked)]),
            blocks_to_json(&item.blocks),
        )
    });
    node(kind, attrs, items.collect())
}

fn row_to_json(row: &TextRow) -> Value {
    let cells = row.cells.iter().map(|cell| {
        let attrs = attributes([
            ("colspan", json!(cell.colspan)),
            ("rowspan", json!(cell.rowspan)),
            ("colwidth", json!(cell.widths)),
            ("source", json!(cell.source)),
        ]);
        node(
            if cell.is_header { "table_header" } else { "table_cell" },
            attrs,
            blocks_to_json(&cell.blocks),
        )
    });
    node(
        "table_row",
        attributes([("source", json!(row.source))]),
        cells.collect(),
    )
}

fn inline_to_json(inline: &Inline) -> Value {
    let mut value = match &inline.item {
        Item::Text(text) => json!({"type": "text", "text": text}),
        Item::Break => node("hard_break", Map::new(), Vec::new()),
        Item::Footnote(text) => node("footnote", attributes([("text", json!(text))]), Vec::new()),
        Item::Island(island) => node("island_inline", island_attributes(island), Vec::new()),
        Item::Image(image) => {
            let attrs = attributes([
                ("src", json!(image.src)),
                ("alt", json!(image.alt)),
                ("title", json!(image.title)),
                ("width", json!(image.width)),
                ("height", json!(image.height)),
            ]);
            node("image", attrs, Vec::new())
        }
    };
    let marks = marks_to_json(&inline.marks);
    if !marks.is_empty() {
        value["marks"] = Value::Array(marks);
    }
    value
}

/// The marks in the order of the schema, as ProseMirror requires.
fn marks_to_json(marks: &Marks) -> Vec<Value> {
    let mut list = Vec::new();
    if let Some(href) = &marks.link {
        list.push(json!({"type": "link", "attrs": {"href": href}}));
    }
    let script = |script| marks.script == Some(script);
    let simple = [
        (marks.strong, "strong"),
        (marks.em, "em"),
        (marks.underline, "underline"),
        (marks.strike, "strike"),
        (script(Script::Superscript), "superscript"),
        (script(Script::Subscript), "subscript"),
    ];
    list.extend(
        simple
            .into_iter()
            .filter(|(is_set, _)| *is_set)
            .map(|(_, name)| json!({"type": name})),
    );
    if let Some(color) = &marks.highlight {
        list.push(json!({"type": "highlight", "attrs": {"color": color}}));
    }
    if let Some(color) = &marks.color {
        list.push(json!({"type": "color", "attrs": {"color": color}}));
    }
    if marks.code {
        list.push(json!({"type": "code"}));
    }
    list
}

const fn align_name(align: Align) -> &'static str {
    match align {
        Align::Left => "left",
        Align::Center => "center",
        Align::Right => "right",
        Align::Justify => "justify",
    }
}

const fn format_name(format: NumberFormat) -> &'static str {
    match format {
        NumberFormat::Decimal => "decimal",
        NumberFormat::LowerLetter => "lower_letter",
        NumberFormat::UpperLetter => "upper_letter",
        NumberFormat::LowerRoman => "lower_roman",
        NumberFormat::UpperRoman => "upper_roman",
    }
}

/// The size of the content of a node, as positions in a document are counted.
pub fn content_size(node: &Value) -> usize {
    let size = |child: &Value| match (child["text"].as_str(), child["type"].as_str()) {
        (Some(text), _) => text.encode_utf16().count(),
        (
            None,
            Some(
                "hard_break" | "image" | "footnote" | "island_inline" | "horizontal_rule" | "page_break"
                | "island_block",
            ),
        ) => 1,
        (None, _) => content_size(child) + 2,
    };
    content(node).iter().map(size).sum()
}

pub fn from_json(value: &Value) -> DocxResult<TextDocument> {
    if kind_of(value)? != "doc" {
        return Err(invalid("the root is no doc"));
    }
    let language = string(value, "language");
    Ok(TextDocument {
        language,
        blocks: blocks_from_json(value, 1)?,
    })
}

fn invalid(reason: impl std::fmt::Display) -> DocxError {
    DocxError::InvalidDocument(reason.to_string())
}

fn kind_of(value: &Value) -> DocxResult<&str> {
    value["type"].as_str().ok_or_else(|| invalid("a node has no type"))
}

fn string(value: &Value, attribute: &str) -> Option<String> {
    value["attrs"][attribute].as_str().map(str::to_owned)
}

/// A whole number; JavaScript may write it as 1.0.
fn number(value: &Value, attribute: &str) -> Option<u64> {
    let value = &value["attrs"][attribute];
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked before"
    )]
    value.as_u64().or_else(|| {
        value
            .as_f64()
            .filter(|float| (0.0..=1e9).contains(float))
            .map(|float| float as u64)
    })
}

fn small(value: &Value, attribute: &str) -> Option<u32> {
    number(value, attribute).and_then(|number| u32::try_from(number).ok())
}

fn source(value: &Value) -> Source {
    number(value, "source").and_then(|number| usize::try_from(number).ok())
}

fn content(value: &Value) -> &[Value] {
    value["content"].as_array().map_or(&[], Vec::as_slice)
}

fn blocks_from_json(parent: &Value, depth: usize) -> DocxResult<Vec<DocxBlock>> {
    if depth > DEPTH_MAX {
        return Err(invalid("nodes are nested too deeply"));
    }
    content(parent)
        .iter()
        .map(|value| block_from_json(value, depth))
        .collect()
}

fn block_from_json(value: &Value, depth: usize) -> DocxResult<DocxBlock> {
    Ok(match kind_of(value)? {
        "paragraph" => DocxBlock::Paragraph(paragraph_from_json(value, ParagraphKind::Body)?),
        "heading" => {
            let level = number(value, "level").unwrap_or(1).clamp(1, 4);
            let level = u8::try_from(level).map_err(invalid)?;
            DocxBlock::Paragraph(paragraph_from_json(value, ParagraphKind::Heading(level))?)
        }
        "code_block" => DocxBlock::Paragraph(paragraph_from_json(value, ParagraphKind::Code)?),
        "blockquote" => DocxBlock::Quote(blocks_from_json(value, depth + 1)?),
        "bullet_list" => list_from_json(value, ListKind::Bullet, depth)?,
        "check_list" => list_from_json(value, ListKind::Check, depth)?,
        "ordered_list" => {
            let start = small(value, "start").unwrap_or(1);
            let format = match value["attrs"]["format"].as_str() {
                Some("lower_letter") => NumberFormat::LowerLetter,
                Some("upper_letter") => NumberFormat::UpperLetter,
                Some("lower_roman") => NumberFormat::LowerRoman,
                Some("upper_roman") => NumberFormat::UpperRoman,
                _ => NumberFormat::Decimal,
            };
            list_from_json(value, ListKind::Ordered { start, format }, depth)?
        }
        "table" => {
            let rows = content(value)
                .iter()
                .map(|row| row_from_json(row, depth + 1))
                .collect::<DocxResult<_>>()?;
            DocxBlock::Table(TextTable {
                source: source(value),
                rows,
            })
        }
        "horizontal_rule" => DocxBlock::Rule(source(value)),
        "page_break" => DocxBlock::PageBreak(source(value)),
        "island_block" => DocxBlock::Island(island_from_json(value)?, source(value)),
        kind => return Err(invalid(format_args!("{kind} is no block"))),
    })
}

fn island_from_json(value: &Value) -> DocxResult<Island> {
    Ok(Island {
        id: string(value, "id").ok_or_else(|| invalid("an island has no id"))?,
        label: string(value, "label").unwrap_or_default(),
        kind: string(value, "kind").unwrap_or_default(),
    })
}

fn list_from_json(value: &Value, kind: ListKind, depth: usize) -> DocxResult<DocxBlock> {
    let items = content(value).iter().map(|item| {
        let checked = item["attrs"]["checked"].as_bool().unwrap_or_default();
        Ok(ListItem {
            checked,
            blocks: blocks_from_json(item, depth + 2)?,
        })
    });
    Ok(DocxBlock::List(TextList {
        kind,
        items: items.collect::<DocxResult<_>>()?,
    }))
}

fn row_from_json(value: &Value, depth: usize) -> DocxResult<TextRow> {
    let cells = content(value).iter().map(|cell| {
        let is_header = match kind_of(cell)? {
            "table_header" => true,
            "table_cell" => false,
            kind => return Err(invalid(format_args!("{kind} is no cell"))),
        };
        let span = |name| {
            number(cell, name)
                .and_then(|span| usize::try_from(span).ok())
                .unwrap_or(1)
                .max(1)
        };
        let widths = cell["attrs"]["colwidth"].as_array().map(|widths| {
            widths
                .iter()
                .map(|width| width.as_u64().and_then(|width| u32::try_from(width).ok()).unwrap_or(0))
                .collect()
        });
        Ok(TextCell {
            source: source(cell),
            is_header,
            colspan: span("colspan").min(1000),
            rowspan: span("rowspan").min(10_000),
            widths,
            blocks: blocks_from_json(cell, depth + 2)?,
        })
    });
    Ok(TextRow {
        source: source(value),
        cells: cells.collect::<DocxResult<_>>()?,
    })
}

fn paragraph_from_json(value: &Value, kind: ParagraphKind) -> DocxResult<Paragraph> {
    let align = match value["attrs"]["align"].as_str() {
        Some("left") => Some(Align::Left),
        Some("center") => Some(Align::Center),
        Some("right") => Some(Align::Right),
        Some("justify") => Some(Align::Justify),
        _ => None,
    };
    let content = content(value).iter().map(inline_from_json).collect::<DocxResult<_>>()?;
    Ok(Paragraph {
        kind,
        align,
        style: string(value, "style"),
        source: source(value),
        content,
    })
}

fn inline_from_json(value: &Value) -> DocxResult<Inline> {
    let item = match kind_of(value)? {
        "text" => Item::Text(value["text"].as_str().unwrap_or_default().to_owned()),
        "hard_break" => Item::Break,
        "footnote" => Item::Footnote(string(value, "text").unwrap_or_default()),
        "island_inline" => Item::Island(island_from_json(value)?),
        "image" => Item::Image(Image {
            src: string(value, "src").ok_or_else(|| invalid("an image has no src"))?,
            alt: string(value, "alt").unwrap_or_default(),
            title: string(value, "title"),
            width: small(value, "width"),
            height: small(value, "height"),
        }),
        kind => return Err(invalid(format_args!("{kind} is no inline node"))),
    };
    let mut marks = Marks::default();
    for mark in value["marks"].as_array().map_or(&[] as &[Value], Vec::as_slice) {
        match kind_of(mark)? {
            "link" => marks.link = string(mark, "href"),
            "strong" => marks.strong = true,
            "em" => marks.em = true,
            "underline" => marks.underline = true,
            "strike" => marks.strike = true,
            "superscript" => marks.script = Some(Script::Superscript),
            "subscript" => marks.script = Some(Script::Subscript),
            "highlight" => marks.highlight = Some(string(mark, "color").unwrap_or_else(|| "yellow".to_owned())),
            "color" => marks.color = string(mark, "color"),
            "code" => marks.code = true,
            kind => return Err(invalid(format_args!("{kind} is no mark"))),
        }
    }
    Ok(Inline { item, marks })
}
