//! The archive of a document: its parts, their content types and relationships. A changed package is written as a
//! patch: entries that did not change are copied in their compressed form.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::error::{DocxError, DocxResult};
use crate::limits::Limits;
use crate::xml::{Namespace, Tree, escaped, push};

const DOCUMENT_TYPES: &[&str] = &[
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
];

/// A relationship of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relationship {
    pub id: String,
    /// The last segment of the type, for example `image`.
    pub kind: String,
    /// The name of a part, or a URL if it is external.
    pub target: String,
    pub is_external: bool,
}

/// An opened archive.
pub struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// Names of entries, by their lower case form: office programs ignore case.
    names: HashMap<String, (String, usize)>,
    limits: Limits,
    left: u64,
    pub main_part: String,
    types: Tree,
}

impl<'a> Package<'a> {
    pub fn open(bytes: &'a [u8], limits: &Limits) -> DocxResult<Self> {
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(DocxError::damaged)?;
        if archive.len() > limits.entries {
            return Err(DocxError::TooLarge("it has too many entries"));
        }
        if archive.has_duplicate_names() {
            return Err(DocxError::Damaged("it names an entry twice".to_owned()));
        }
        let mut names = HashMap::new();
        let mut declared = 0_u64;
        for index in 0..archive.len() {
            let entry = archive.by_index_raw(index).map_err(DocxError::damaged)?;
            let name = entry.name().map_err(DocxError::damaged)?.into_owned();
            if !is_safe_name(&name) || entry.is_symlink() || entry.encrypted() {
                return Err(DocxError::Damaged("an entry has a name that is not allowed".to_owned()));
            }
            declared = declared.saturating_add(entry.size());
            if names.insert(name.to_lowercase(), (name, index)).is_some() {
                return Err(DocxError::Damaged("it names an entry twice".to_owned()));
            }
        }
        let compressed = bytes.len() as u64;
        let left = limits
            .inflated_bytes
            .min(Limits::RATIO_EXEMPT_BYTES.max(compressed.saturating_mul(limits.ratio)));
        if declared > left {
            return Err(DocxError::TooLarge("it unpacks to far more than its size"));
        }
        let types = read_entry(&mut archive, &names, "[Content_Types].xml", limits, &mut left.clone())?
            .ok_or_else(|| DocxError::Damaged("it has no content types".to_owned()))?;
        let types = Tree::parse(types, limits)?;
        let mut package = Self {
            archive,
            names,
            limits: *limits,
            left,
            main_part: String::new(),
            types,
        };
        let root = package.relationships("")?;
        let main = root
            .into_iter()
            .find(|relationship| relationship.kind == "officeDocument");
        let main = main.ok_or_else(|| DocxError::Damaged("it has no document".to_owned()))?;
        let content_type = package.content_type(&main.target).unwrap_or_default();
        if !DOCUMENT_TYPES.contains(&content_type.as_str()) {
            return Err(DocxError::Damaged("its main part is no text document".to_owned()));
        }
        package.main_part = main.target;
        Ok(package)
    }

    pub fn has(&self, part: &str) -> bool {
        self.names.contains_key(&part.to_lowercase())
    }

    pub fn part_names(&self) -> impl Iterator<Item = &str> {
        self.names.values().map(|(name, _)| name.as_str())
    }

    /// Reads a part completely; `None` if there is none of this name.
    pub fn read(&mut self, part: &str) -> DocxResult<Option<Vec<u8>>> {
        read_entry(&mut self.archive, &self.names, part, &self.limits, &mut self.left)
    }

    pub fn tree(&mut self, part: &str) -> DocxResult<Option<Tree>> {
        let limits = self.limits;
        self.read(part)?.map(|bytes| Tree::parse(bytes, &limits)).transpose()
    }

    /// The relationships of a part, or of the package for an empty name.
    pub fn relationships(&mut self, part: &str) -> DocxResult<Vec<Relationship>> {
        let Some(tree) = self.tree(&relationships_part(part))? else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for element in tree.children(tree.root()) {
            if !tree.is(element, Namespace::Package, "Relationship") {
                continue;
            }
            let attribute = |name| tree.attribute(element, name).map(std::borrow::Cow::into_owned);
            let (Some(id), Some(kind), Some(target)) = (attribute("Id"), attribute("Type"), attribute("Target")) else {
                continue;
            };
            let is_external = attribute("TargetMode").is_some_and(|mode| mode == "External");
            let target = if is_external {
                Some(target)
            } else {
                resolve(part, &target)
            };
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            if let Some(target) = target {
                found.push(Relationship {
                    id,
                    kind,
                    target,
                    is_external,
                });
            }
        }
        Ok(found)
    }

    /// The content type of a part.
    pub fn content_type(&self, part: &str) -> Option<String> {
        let tree = &self.types;
        let lower = part.to_lowercase();
        let extension = lower.rsplit_once('.').map(|(_, extension)| extension.to_owned());
        let mut by_extension = None;
        for element in tree.children(tree.root()) {
            let content_type = || {
                tree.attribute(element, "ContentType")
                    .map(|value| value.trim().to_owned())
            };
            if tree.is(element, Namespace::ContentTypes, "Override") {
                let name = tree.attribute(element, "PartName").unwrap_or_default().to_lowercase();
                if name.trim_start_matches('/') == lower {
                    return content_type();
                }
            } else if tree.is(element, Namespace::ContentTypes, "Default") {
                let name = tree.attribute(element, "Extension").map(|value| value.to_lowercase());
                if name == extension {
                    by_extension = content_type();
                }
            }
        }
        by_extension
    }

    /// Writes the archive with changed and new parts. Entries keep their order; new ones follow.
    pub fn patched(&mut self, changes: &Changes) -> DocxResult<Vec<u8>> {
        let mut parts = changes.parts.clone();
        if !changes.types.is_empty() {
            parts.insert(
                "[Content_Types].xml".to_owned(),
                self.types_with(&changes.types).into_bytes(),
            );
        }
        for (part, added) in &changes.relationships {
            let name = relationships_part(part);
            let original = self.read(&name)?;
            parts.insert(name, relationships_with(original, added, &self.limits)?.into_bytes());
        }
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(zip::DateTime::default());
        let mut written = HashSet::new();
        for index in 0..self.archive.len() {
            let entry = self.archive.by_index_raw(index).map_err(DocxError::damaged)?;
            let name = entry.name().map_err(DocxError::damaged)?.into_owned();
            let change = parts.iter().find(|(part, _)| part.eq_ignore_ascii_case(&name));
            if let Some((part, bytes)) = change {
                written.insert(part.clone());
                writer.start_file(name, options).map_err(DocxError::damaged)?;
                writer.write_all(bytes).map_err(DocxError::damaged)?;
            } else {
                writer.raw_copy_file(entry).map_err(DocxError::damaged)?;
            }
        }
        for (part, bytes) in parts.iter().filter(|(part, _)| !written.contains(*part)) {
            writer.start_file(part.as_str(), options).map_err(DocxError::damaged)?;
            writer.write_all(bytes).map_err(DocxError::damaged)?;
        }
        Ok(writer.finish().map_err(DocxError::damaged)?.into_inner())
    }

    fn types_with(&self, added: &BTreeMap<PartType, String>) -> String {
        let root = self.types.get(self.types.root());
        let mut xml = String::new();
        for (part, content_type) in added {
            let content_type = escaped(content_type);
            match part {
                PartType::Extension(extension) => {
                    let extension = escaped(extension);
                    push!(
                        xml,
                        "<Default Extension=\"{extension}\" ContentType=\"{content_type}\"/>"
                    );
                }
                PartType::Part(name) => {
                    let name = escaped(name);
                    push!(xml, "<Override PartName=\"/{name}\" ContentType=\"{content_type}\"/>");
                }
            }
        }
        insert_at_end(&self.types, root.inner.end, &xml)
    }
}

/// For what a content type is declared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartType {
    Extension(String),
    Part(String),
}

/// Changes of a package.
#[derive(Debug, Default)]
pub struct Changes {
    pub parts: BTreeMap<String, Vec<u8>>,
    pub types: BTreeMap<PartType, String>,
    /// New relationships, by the part they belong to. The kind is a complete type.
    pub relationships: BTreeMap<String, Vec<Relationship>>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.types.is_empty() && self.relationships.is_empty()
    }
}

fn insert_at_end(tree: &Tree, position: usize, xml: &str) -> String {
    let mark = if tree.has_byte_order_mark { "\u{feff}" } else { "" };
    let root = tree.get(tree.root());
    if root.span == root.tag {
        // An empty element has no end tag to insert before.
        let open = tree.text_of(&root.tag).trim_end_matches("/>");
        let name = tree.name(tree.root());
        let (before, after) = (&tree.source[..root.span.start], &tree.source[root.span.end..]);
        return format!("{mark}{before}{open}>{xml}</{name}>{after}");
    }
    format!("{mark}{}{xml}{}", &tree.source[..position], &tree.source[position..])
}

/// Returns the text of a part with XML before the end of its root element.
pub fn appended(tree: &Tree, xml: &str) -> String {
    insert_at_end(tree, tree.get(tree.root()).inner.end, xml)
}

fn relationships_with(original: Option<Vec<u8>>, added: &[Relationship], limits: &Limits) -> DocxResult<String> {
    let mut xml = String::new();
    for relationship in added {
        let (id, kind, target) = (
            escaped(&relationship.id),
            escaped(&relationship.kind),
            escaped(&relationship.target),
        );
        let mode = if relationship.is_external {
            " TargetMode=\"External\""
        } else {
            ""
        };
        push!(
            xml,
            "<Relationship Id=\"{id}\" Type=\"{kind}\" Target=\"{target}\"{mode}/>"
        );
    }
    let original = original.unwrap_or_else(|| {
        let root = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"/>";
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n{root}").into_bytes()
    });
    let tree = Tree::parse(original, limits)?;
    Ok(appended(&tree, &xml))
}

fn read_entry(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    names: &HashMap<String, (String, usize)>,
    part: &str,
    limits: &Limits,
    left: &mut u64,
) -> DocxResult<Option<Vec<u8>>> {
    let Some((_, index)) = names.get(&part.to_lowercase()) else {
        return Ok(None);
    };
    let entry = archive.by_index(*index).map_err(DocxError::damaged)?;
    let most = limits.part_bytes.min(*left);
    let mut bytes = Vec::new();
    entry
        .take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(DocxError::damaged)?;
    if bytes.len() as u64 > most {
        return Err(DocxError::TooLarge("a part is too large"));
    }
    *left -= bytes.len() as u64;
    Ok(Some(bytes))
}

fn is_safe_name(name: &str) -> bool {
    let name = name.replace('\\', "/");
    let is_drive = name.as_bytes().get(1) == Some(&b':');
    !(name.is_empty()
        || name.starts_with('/')
        || is_drive
        || name.contains(char::is_control)
        || name.split('/').any(|segment| segment == ".."))
}

/// The part with the relationships of a part.
pub fn relationships_part(part: &str) -> String {
    match part.rsplit_once('/') {
        Some((folder, name)) => format!("{folder}/_rels/{name}.rels"),
        None => format!("_rels/{part}.rels"),
    }
}

/// Resolves a target relative to the folder of a part; `None` if it leads outside of the package.
fn resolve(part: &str, target: &str) -> Option<String> {
    let folder = part.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut segments: Vec<&str> = if target.starts_with('/') {
        Vec::new()
    } else {
        folder.split('/').collect()
    };
    for segment in target.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop()?;
            }
            segment => segments.push(segment),
        }
    }
    segments.retain(|segment| !segment.is_empty());
    Some(segments.join("/"))
}

/// The target of a relationship from one part to another.
pub fn relative(from: &str, to: &str) -> String {
    match from.rsplit_once('/') {
        Some((folder, _)) => to
            .strip_prefix(folder)
            .and_then(|rest| rest.strip_prefix('/'))
            .map_or_else(|| format!("/{to}"), str::to_owned),
        None => to.to_owned(),
    }
}
