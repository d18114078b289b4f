//! Why JSON is no document or step, and why a step does not apply.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RichTextError {
    #[error("{0} is missing or has the wrong type")]
    Field(&'static str),
    #[error("unknown {kind}: {name:?}")]
    UnknownName { kind: &'static str, name: String },
    #[error("attribute {attribute} of {owner} is invalid")]
    Attribute { owner: &'static str, attribute: String },
    #[error("a text node is empty")]
    EmptyText,
    #[error("the marks of {0} exclude each other or are not in order")]
    Marks(&'static str),
    #[error("{0} cannot contain these nodes")]
    Content(&'static str),
    #[error("position {0} is outside of the document")]
    Position(usize),
    #[error("a position is inside a surrogate pair")]
    SurrogatePair,
    #[error("the end of a range precedes its start")]
    Range,
    #[error("there is no node at position {0}")]
    NoNode(usize),
    #[error("the open depths of the slice do not fit")]
    OpenDepth,
    #[error("{1} cannot be joined to {0}")]
    Join(&'static str, &'static str),
    #[error("a structure step would overwrite content")]
    Overwrite,
    #[error("the gap is not a flat range, or its content does not fit into the slice")]
    Gap,
    #[error("the document is nested too deeply")]
    TooDeep,
    #[error("the document is too large")]
    TooLarge,
}

impl RichTextError {
    /// Keeps the beginning of a name, because the error may be logged.
    pub(crate) fn unknown(kind: &'static str, name: &str) -> Self {
        let name = name.chars().take(40).collect();
        Self::UnknownName { kind, name }
    }

    pub(crate) fn attribute(owner: &'static str, attribute: &str) -> Self {
        let attribute = attribute.chars().take(40).collect();
        Self::Attribute { owner, attribute }
    }
}
