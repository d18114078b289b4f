//! Finds the text blocks (paragraphs, shared strings) of an XML part and writes changed ones back. Unchanged content is
//! copied event by event, so formatting and unknown elements survive.

use std::collections::BTreeMap;

use quick_xml::{
    Reader, Writer,
    events::{BytesEnd, BytesStart, BytesText, Event},
};

/// The local element names of the blocks of one format.
pub(crate) struct Dialect {
    /// Block element: `p`, `si` or `is`.
    pub(crate) block: &'static str,
    /// Element of text runs; absent in spreadsheets.
    pub(crate) run: Option<&'static str>,
    /// Whether `xml:space` is allowed on the text element.
    pub(crate) keeps_space: bool,
}

/// The edit of an existing block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Keep,
    Set(String),
    Remove,
}

/// The edits of all blocks of one part.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) fates: Vec<Fate>,
    /// New blocks before the first one, or at the end of the body if there is none.
    pub(crate) first: Vec<String>,
    /// New blocks after the block with this index.
    pub(crate) after: BTreeMap<usize, Vec<String>>,
}

/// The part is not readable XML.
pub(crate) type XmlFault = quick_xml::Error;

fn local(name: &[u8]) -> &[u8] {
    name.rsplit(|byte| *byte == b':').next().unwrap_or(name)
}

fn prefix(name: &[u8]) -> String {
    let end = name.iter().position(|byte| *byte == b':').map_or(0, |at| at + 1);
    String::from_utf8_lossy(&name[..end]).into_owned()
}

/// Returns the text of every outermost block, in request.
pub(crate) fn read(xml: &[u8], dialect: &Dialect) -> Result<Vec<String>, XmlFault> {
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
                if name == dialect.block.as_bytes() {
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
                if depth == 0 && name == dialect.block.as_bytes() {
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
                if name == dialect.block.as_bytes() {
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
pub(crate) fn write(xml: &[u8], dialect: &Dialect, plan: &Plan) -> Result<Vec<u8>, XmlFault> {
    let mut reader = Reader::from_reader(xml);
    let mut pen = Pen {
        writer: Writer::new(Vec::with_capacity(xml.len() + 256)),
        dialect,
    };
    let mut number = 0;
    let mut first_due = !plan.first.is_empty();
    let mut cells = 0_usize;
    loop {
        let event = reader.read_event()?;
        let (name, opens) = match &event {
            Event::Eof => return Ok(pen.writer.into_inner()),
            Event::Start(tag) | Event::Empty(tag) => (tag.name().as_ref().to_vec(), true),
            Event::End(tag) => (tag.name().as_ref().to_vec(), false),
            _ => (Vec::new(), false),
        };
        let short = local(&name);
        // Without any block, new ones are inserted at the end of the body, before the section properties.
        let end_of_body = (short == b"sectPr" && opens) || (short == b"body" && !opens);
        let is_block = opens && short == dialect.block.as_bytes();
        if first_due && (is_block || end_of_body) {
            pen.blocks(&prefix(&name), &plan.first)?;
            first_due = false;
        }
        if !is_block {
            match &event {
                Event::Start(_) if short == b"tc" => cells += 1,
                Event::End(_) if short == b"tc" => cells = cells.saturating_sub(1),
                _ => {}
            }
            pen.writer.write_event(event)?;
            continue;
        }
        let block = whole_block(&mut reader, event, dialect)?;
        match plan.fates.get(number).unwrap_or(&Fate::Keep) {
            Fate::Keep => pen.copy(&block)?,
            Fate::Set(text) => pen.replaced(&block, &name, text)?,
            // A table cell needs a paragraph, so the paragraph is emptied instead of removed.
            Fate::Remove if cells > 0 => pen.replaced(&block, &name, "")?,
            Fate::Remove => {}
        }
        if let Some(new) = plan.after.get(&number) {
            pen.blocks(&prefix(&name), new)?;
        }
        number += 1;
    }
}

/// Reads all events of a block whose first event was already read.
fn whole_block(
    reader: &mut Reader<&[u8]>,
    first: Event<'_>,
    dialect: &Dialect,
) -> Result<Vec<Event<'static>>, XmlFault> {
    let mut depth = usize::from(matches!(first, Event::Start(_)));
    let mut block = vec![first.into_owned()];
    while depth > 0 {
        let event = reader.read_event()?.into_owned();
        match &event {
            Event::Start(tag) if local(tag.name().as_ref()) == dialect.block.as_bytes() => depth += 1,
            Event::End(tag) if local(tag.name().as_ref()) == dialect.block.as_bytes() => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
        block.push(event);
    }
    Ok(block)
}

struct Pen<'d> {
    writer: Writer<Vec<u8>>,
    dialect: &'d Dialect,
}

impl Pen<'_> {
    fn copy(&mut self, events: &[Event<'static>]) -> Result<(), XmlFault> {
        for event in events {
            self.writer.write_event(event.borrow())?;
        }
        Ok(())
    }

    /// Writes the block with its own properties, those of its first run, and one run of new text.
    fn replaced(&mut self, block: &[Event<'static>], name: &[u8], text: &str) -> Result<(), XmlFault> {
        let start = match &block[0] {
            Event::Start(tag) | Event::Empty(tag) => tag.borrow(),
            _ => return Ok(()),
        };
        self.writer.write_event(Event::Start(start))?;
        if self.dialect.run.is_some() {
            self.copy(subtree(block, b"pPr"))?;
        }
        let run_properties = subtree(after(block, subtree(block, b"pPr")), b"rPr");
        self.run(&prefix(name), text, run_properties)?;
        let name = String::from_utf8_lossy(name).into_owned();
        Ok(self.writer.write_event(Event::End(BytesEnd::new(name)))?)
    }

    fn blocks(&mut self, prefix: &str, texts: &[String]) -> Result<(), XmlFault> {
        for text in texts {
            let name = format!("{prefix}{}", self.dialect.block);
            self.writer.write_event(Event::Start(BytesStart::new(name.as_str())))?;
            self.run(prefix, text, &[])?;
            self.writer.write_event(Event::End(BytesEnd::new(name.as_str())))?;
        }
        Ok(())
    }

    fn run(&mut self, prefix: &str, text: &str, properties: &[Event<'static>]) -> Result<(), XmlFault> {
        let run = self.dialect.run.map(|run| format!("{prefix}{run}"));
        if let Some(run) = &run {
            self.writer.write_event(Event::Start(BytesStart::new(run.as_str())))?;
            self.copy(properties)?;
        }
        let name = format!("{prefix}t");
        let mut start = BytesStart::new(name.as_str());
        if self.dialect.keeps_space {
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
fn after<'e>(events: &'e [Event<'static>], part: &[Event<'static>]) -> &'e [Event<'static>] {
    if part.is_empty() {
        return events;
    }
    let from = events
        .iter()
        .position(|event| std::ptr::eq(event, &raw const part[0]))
        .map_or(0, |start| start + part.len());
    &events[from..]
}
