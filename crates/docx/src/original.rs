//! The original file, parsed: what both the reader and the writer need.

use std::collections::{BTreeMap, HashMap};

use crate::error::{DocxError, DocxResult};
use crate::footnotes::Footnotes;
use crate::numbering::Numbering;
use crate::package::{Package, Relationship};
use crate::styles::Styles;
use crate::xml::{ElementId, Namespace, Tree};

const IMAGE_TYPES: &[&str] = &[
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/svg+xml",
    "image/bmp",
];

/// A picture of the package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImagePart {
    /// The `src` of image nodes.
    pub id: String,
    /// The name of the part.
    pub part: String,
    pub media_type: String,
}

pub struct OriginalFile {
    pub tree: Tree,
    pub body: ElementId,
    pub styles: Styles,
    pub numbering: Numbering,
    pub footnotes: Footnotes,
    /// Relationships of the main part by their id.
    pub relationships: HashMap<String, Relationship>,
    /// Pictures by the name of their part.
    images: BTreeMap<String, ImagePart>,
    /// Names of parts by the last segment of the type of the relationship.
    parts: HashMap<String, String>,
    pub is_protected: bool,
}

/// Why a document can be shown but not edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnlyReason {
    /// The strict variant of the standard.
    Strict,
    /// The elements of the text have unusual names, with which new text would not be understood.
    Namespaces,
    /// The author protected the document against changes.
    Protected,
}

impl ReadOnlyReason {
    /// A sentence for users.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Strict => "The file is saved as Strict Open XML. Save it as a Word document (.docx) to edit it here.",
            Self::Namespaces => {
                "The file was written by a program with an unusual format. Open it in Word or LibreOffice and save it \
                 again to edit it here."
            }
            Self::Protected => "The author has protected the file against changes.",
        }
    }

    /// A code for the client's texts.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Namespaces => "namespaces",
            Self::Protected => "protected",
        }
    }
}

impl OriginalFile {
    pub fn read(package: &mut Package<'_>) -> DocxResult<Self> {
        let main = package.main_part.clone();
        let tree = package
            .tree(&main)?
            .ok_or_else(|| DocxError::Damaged("it has no document".to_owned()))?;
        let relationships = package.relationships(&main)?;
        let mut parts = HashMap::new();
        for relationship in relationships.iter().filter(|relationship| !relationship.is_external) {
            parts
                .entry(relationship.kind.clone())
                .or_insert_with(|| relationship.target.clone());
        }
        let mut part =
            |kind: &str| -> DocxResult<Option<Tree>> { parts.get(kind).map_or(Ok(None), |name| package.tree(name)) };
        let styles = Styles::read(part("styles")?);
        let numbering = Numbering::read(part("numbering")?);
        let footnotes = Footnotes::read(part("footnotes")?);
        let settings = part("settings")?;
        let is_protected = settings.is_some_and(|settings| {
            let protection = settings.child(settings.root(), "documentProtection");
            protection.is_some_and(|protection| {
                let is_on = settings.attribute(protection, "enforcement");
                let is_on = is_on.is_some_and(|value| matches!(&*value, "1" | "true" | "on"));
                let kind = settings.attribute(protection, "edit");
                is_on && kind.is_some_and(|kind| kind != "none")
            })
        });
        let images = read_images(package, &relationships);
        let root = tree.root();
        let body = tree.children(root).find(|child| tree.local(*child) == "body");
        let body = body.ok_or_else(|| DocxError::Damaged("it has no body".to_owned()))?;
        let relationships = relationships
            .into_iter()
            .map(|relationship| (relationship.id.clone(), relationship));
        let relationships = relationships.collect();
        Ok(Self {
            tree,
            body,
            styles,
            numbering,
            footnotes,
            relationships,
            images,
            parts,
            is_protected,
        })
    }

    pub fn read_only_reason(&self) -> Option<ReadOnlyReason> {
        let tree = &self.tree;
        let has_prefix = |prefix, namespace| tree.root_namespace(prefix) == Some(namespace);
        if tree.get(self.body).namespace == Namespace::StrictWord {
            Some(ReadOnlyReason::Strict)
        } else if !has_prefix("w", Namespace::Word)
            || !matches!(tree.root_namespace("r"), None | Some(Namespace::Relationships))
            || !self.styles.has_word_prefix()
            || !self.numbering.has_word_prefix()
            || !self.footnotes.has_word_prefix()
        {
            Some(ReadOnlyReason::Namespaces)
        } else if self.is_protected {
            Some(ReadOnlyReason::Protected)
        } else {
            None
        }
    }

    pub fn image_id(&self, part: &str) -> Option<&str> {
        self.images.get(&part.to_lowercase()).map(|image| image.id.as_str())
    }

    pub fn images(&self) -> impl Iterator<Item = &ImagePart> {
        self.images.values()
    }

    /// The part with a kind of content, by the last segment of the type of its relationship.
    pub fn part(&self, kind: &str) -> Option<&str> {
        self.parts.get(kind).map(String::as_str)
    }
}

/// Pictures that browsers can show.
fn read_images(package: &Package<'_>, relationships: &[Relationship]) -> BTreeMap<String, ImagePart> {
    let mut images: BTreeMap<String, ImagePart> = BTreeMap::new();
    let pictures = relationships
        .iter()
        .filter(|relationship| relationship.kind == "image" && !relationship.is_external);
    for relationship in pictures.filter(|relationship| package.has(&relationship.target)) {
        let Some(media_type) = package.content_type(&relationship.target) else {
            continue;
        };
        if !IMAGE_TYPES.contains(&media_type.as_str()) {
            continue;
        }
        let key = relationship.target.to_lowercase();
        let clean = |character: char| {
            if character.is_ascii_alphanumeric() {
                character
            } else {
                '-'
            }
        };
        let name: String = key.chars().map(clean).collect();
        let mut id = format!("part-{}", &name[..name.len().min(100)]);
        while images.iter().any(|(other, image)| *other != key && image.id == id) {
            id.push('_');
        }
        let part = relationship.target.clone();
        images.entry(key).or_insert(ImagePart { id, part, media_type });
    }
    images
}
