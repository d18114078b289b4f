//! Finds the text blocks (paragraphs, shared strings) of an XML part and writes changed ones back. Unchanged content is
//! copied event by event, so formatting and unknown elements survive.

use std::collections::BTreeMap;

use quick_xml::{
    Reader, Writer,
    events::{BytesEnd, BytesStart, BytesText, Event},
};

/// The local element names of the blocks of one format.
pub(crate) struct BlockFormat {
    /// Block element: `p`, `si` or `is`.
    pub(crate) block: &'static str,
    /// Element of text runs; absent in spreadsheets.
    pub(crate) run: Option<&'static str>,
    /// Whether `xml:space` is allowed on the text element.
    pub(crate) keeps_space: bool,
}

/// The edit of an existing block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BlockEdit {
    Keep,
    Set(String),
    Remove,
}

/// The edits of all blocks of one part.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct EditPlan {
    pub(crate) edits: Vec<BlockEdit>,
    /// New blocks before the first one, or at the end of the body if there is none.
    pub(crate) first: Vec<String>,
    /// New blocks after the block with this index.
    pub(crate) after: BTreeMap<usize, Vec<String>>,
}

/// The part is not readable XML.
pub(crate) type XmlError = quick_xml::Error;

fn local(name: &[u8]) -> &[u8] {
    name.rsplit(|byte| *byte == b':').next().unwrap_or(name)
}

fn prefix(name: &[u8]) -> String {
    let end = name.iter().position(|byte| *byte == b':').map_or(0, |at| at + 1);
    String::from_utf8_lossy(&name[..end]).into_owned()
}

/// Returns the text of every outermost block, in order.
pub(crate) fn read(xml: &[u8], format: &BlockFormat) -> Result<Vec<String>, XmlError> {
    let mut reader = Reader::from_reader(xml);
    let mut blocks = Vec::new();
    let (mut depth, mut runs, mut in_text) = (0_usize, 0_usize, false);
    let mut text = String::new();
    loop {
        match reader.read_event()? {
            Event::Eof => return Ok(blocks),
            Event::Start(start) => {
                let name = start.name();
                let name = local(name.as_ref());
                if name == format.block.as_bytes() {
                    depth += 1;
                } else if depth == 1 && name == b"r" {
                    runs += 1;
                } else if depth == 1 && name == b"t" {
                    in_text = true;
                }
            }
            Event::Empty(empty) => {
                let name = empty.name();
                let name = local(name.as_ref());
                if depth == 0 && name == format.block.as_bytes() {
                    blocks.push(String::new());
                } else if depth == 1 && name == b"tab" && runs > 0 {
                    text.push('\t');
                } else if depth == 1 && name == b"br" {
                    text.push(' ');
                }
            }
            Event::Text(piece) if in_text => text.push_str(&piece.decode()?),
            Event::CData(piece) if in_text => text.push_str(&piece.decode()?),
            Event::GeneralRef(reference) if in_text => {
                if let Some(character) = reference.resolve_char_ref()? {
                    text.push(character);
                } else {
                    text.push_str(named(&reference.decode()?));
                }
            }
            Event::End(end) => {
                let name = end.name();
                let name = local(name.as_ref());
                if name == format.block.as_bytes() {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        blocks.push(std::mem::take(&mut text));
                        runs = 0;
                    }
                } else if name == b"t" {
                    in_text = false;
                } else if depth == 1 && name == b"r" {
                    runs = runs.saturating_sub(1);
                }
            }
            _ => {}
        }
    }
}

fn named(entity: &str) -> &'static str {
    match entity {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" => "'",
        _ => "",
    }
}

/// Applies a plan to a part.
pub(crate) fn write(xml: &[u8], format: &BlockFormat, plan: &EditPlan) -> Result<Vec<u8>, XmlError> {
    let mut reader = Reader::from_reader(xml);
    let mut blocks_out = BlockWriter {
        writer: Writer::new(Vec::with_capacity(xml.len() + 256)),
        format,
    };
    let mut number = 0;
    let mut has_first = !plan.first.is_empty();
    let mut cells = 0_usize;
    loop {
        let event = reader.read_event()?;
        let (name, opens) = match &event {
            Event::Eof => return Ok(blocks_out.writer.into_inner()),
            Event::Start(tag) | Event::Empty(tag) => (tag.name().as_ref().to_vec(), true),
            Event::End(tag) => (tag.name().as_ref().to_vec(), false),
            _ => (Vec::new(), false),
        };
        let short = local(&name);
        // Without any block, new ones are inserted at the end of the body, before the section properties.
        let end_of_body = (short == b"sectPr" && opens) || (short == b"body" && !opens);
        let is_block = opens && short == format.block.as_bytes();
        if has_first && (is_block || end_of_body) {
            blocks_out.write_blocks(&prefix(&name), &plan.first)?;
            has_first = false;
        }
        if !is_block {
            match &event {
                Event::Start(_) if short == b"tc" => cells += 1,
                Event::End(_) if short == b"tc" => cells = cells.saturating_sub(1),
                _ => {}
            }
            blocks_out.writer.write_event(event)?;
            continue;
        }
        let block = read_block(&mut reader, event, format)?;
        match plan.edits.get(number).unwrap_or(&BlockEdit::Keep) {
            BlockEdit::Keep => blocks_out.copy_events(&block)?,
            BlockEdit::Set(text) => blocks_out.write_replaced(&block, &name, text)?,
            // A table cell needs a paragraph, so the paragraph is emptied instead of removed.
            BlockEdit::Remove if cells > 0 => blocks_out.write_replaced(&block, &name, "")?,
            BlockEdit::Remove => {}
        }
        if let Some(new) = plan.after.get(&number) {
            blocks_out.write_blocks(&prefix(&name), new)?;
        }
        number += 1;
    }
}

/// Reads all events of a block whose first event was already read.
fn read_block(
    reader: &mut Reader<&[u8]>,
    first: Event<'_>,
    format: &BlockFormat,
) -> Result<Vec<Event<'static>>, XmlError> {
    let mut depth = usize::from(matches!(first, Event::Start(_)));
    let mut block = vec![first.into_owned()];
    while depth > 0 {
        let event = reader.read_event()?.into_owned();
        match &event {
            Event::Start(tag) if local(tag.name().as_ref()) == format.block.as_bytes() => depth += 1,
            Event::End(tag) if local(tag.name().as_ref()) == format.block.as_bytes() => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
        block.push(event);
    }
    Ok(block)
}

struct BlockWriter<'d> {
    writer: Writer<Vec<u8>>,
    format: &'d BlockFormat,
}

impl BlockWriter<'_> {
    fn copy_events(&mut self, events: &[Event<'static>]) -> Result<(), XmlError> {
        for event in events {
            self.writer.write_event(event.borrow())?;
        }
        Ok(())
    }

    /// Writes the block with its own properties, those of its first run, and one run of new text.
    fn write_replaced(&mut self, block: &[Event<'static>], name: &[u8], text: &str) -> Result<(), XmlError> {
        let start = match &block[0] {
            Event::Start(tag) | Event::Empty(tag) => tag.borrow(),
            _ => return Ok(()),
        };
        self.writer.write_event(Event::Start(start))?;
        if self.format.run.is_some() {
            self.copy_events(subtree(block, b"pPr"))?;
        }
        let run_properties = subtree(events_after(block, subtree(block, b"pPr")), b"rPr");
        self.write_run(&prefix(name), text, run_properties)?;
        let name = String::from_utf8_lossy(name).into_owned();
        Ok(self.writer.write_event(Event::End(BytesEnd::new(name)))?)
    }

    fn write_blocks(&mut self, prefix: &str, texts: &[String]) -> Result<(), XmlError> {
        for text in texts {
            let name = format!("{prefix}{}", self.format.block);
            self.writer.write_event(Event::Start(BytesStart::new(name.as_str())))?;
            self.write_run(prefix, text, &[])?;
            self.writer.write_event(Event::End(BytesEnd::new(name.as_str())))?;
        }
        Ok(())
    }

    fn write_run(&mut self, prefix: &str, text: &str, properties: &[Event<'static>]) -> Result<(), XmlError> {
        let run = self.format.run.map(|run| format!("{prefix}{run}"));
        if let Some(run) = &run {
            self.writer.write_event(Event::Start(BytesStart::new(run.as_str())))?;
            self.copy_events(properties)?;
        }
        let name = format!("{prefix}t");
        let mut start = BytesStart::new(name.as_str());
        if self.format.keeps_space {
            start.push_attribute(("xml:space", "preserve"));
        }
        self.writer.write_event(Event::Start(start))?;
        let allowed: String = text.chars().filter(|c| *c == '\t' || !c.is_control()).collect();
        self.writer.write_event(Event::Text(BytesText::new(&allowed)))?;
        self.writer.write_event(Event::End(BytesEnd::new(name.as_str())))?;
        if let Some(run) = &run {
            self.writer.write_event(Event::End(BytesEnd::new(run.as_str())))?;
        }
        Ok(())
    }
}

/// Returns the first element with this local name, including its content.
fn subtree<'e>(events: &'e [Event<'static>], wanted: &[u8]) -> &'e [Event<'static>] {
    let is = |name: &[u8]| local(name) == wanted;
    let found = events.iter().position(|event| match event {
        Event::Start(tag) | Event::Empty(tag) => is(tag.name().as_ref()),
        _ => false,
    });
    let Some(from) = found else { return &[] };
    if matches!(events[from], Event::Empty(_)) {
        return &events[from..=from];
    }
    let mut depth = 0_usize;
    for (at, event) in events.iter().enumerate().skip(from) {
        match event {
            Event::Start(tag) if is(tag.name().as_ref()) => depth += 1,
            Event::End(tag) if is(tag.name().as_ref()) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &events[from..=at];
        }
    }
    &[]
}

/// Returns the events after a part found by `subtree`; the paragraph's own `rPr` is inside its `pPr`.
fn events_after<'e>(events: &'e [Event<'static>], part: &[Event<'static>]) -> &'e [Event<'static>] {
    if part.is_empty() {
        return events;
    }
    let from = events
        .iter()
        .position(|event| std::ptr::eq(event, &raw const part[0]))
        .map_or(0, |start| start + part.len());
    &events[from..]
}
