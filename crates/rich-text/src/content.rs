//! Content expressions: `paragraph block*` as an automaton.
//!
//! Every name in the expression is a state (Glushkov's construction): a set of states fits into one integer, and a node
//! matches by a few bit operations.

use crate::NodeType;

/// One bit for each name in the expression.
type States = u64;

#[derive(Debug)]
pub(crate) struct ContentExpression {
    /// The states that may match the first child.
    first: States,
    /// The states after which the content may end.
    last: States,
    accepts_empty: bool,
    /// Indexed by state: the states that may match the next child.
    follow: Vec<States>,
    /// Indexed by node type: the states that match it.
    matching: Vec<States>,
}

/// How far a sequence of children has been matched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContentMatch<'a> {
    expression: &'a ContentExpression,
    next: States,
    is_complete: bool,
}

impl ContentExpression {
    /// Parses names, groups, parentheses, `|`, `*`, `+` and `?`. Panics on anything else: the schema is part of the program.
    pub(crate) fn parse(text: &str, types_of: &dyn Fn(&str) -> Vec<NodeType>) -> Self {
        let spaced = ["(", ")", "|", "*", "+", "?"]
            .iter()
            .fold(text.to_owned(), |text, token| {
                text.replace(token, &format!(" {token} "))
            });
        let mut parser = ExpressionParser {
            tokens: spaced.split_whitespace().rev().collect(),
            types_of,
            follow: Vec::new(),
            matching: vec![0; NodeType::ALL.len()],
        };
        let part = if parser.tokens.is_empty() {
            ExpressionPart::EMPTY
        } else {
            parser.choice()
        };
        assert!(
            parser.tokens.is_empty(),
            "content expression {text:?} has an unexpected end"
        );
        Self {
            first: part.first,
            last: part.last,
            accepts_empty: part.accepts_empty,
            follow: parser.follow,
            matching: parser.matching,
        }
    }

    pub(crate) fn start(&self) -> ContentMatch<'_> {
        ContentMatch {
            expression: self,
            next: self.first,
            is_complete: self.accepts_empty,
        }
    }

    pub(crate) fn is_leaf(&self) -> bool {
        self.first == 0
    }

    /// Whether a node type exists with which the content of both may begin.
    pub(crate) fn is_compatible(&self, other: &Self) -> bool {
        let both = self.matching.iter().zip(&other.matching);
        both.into_iter()
            .any(|(own, others)| own & self.first != 0 && others & other.first != 0)
    }

    pub(crate) fn can_begin_with(&self, node_type: NodeType) -> bool {
        self.matching[node_type as usize] & self.first != 0
    }
}

impl ContentMatch<'_> {
    pub(crate) fn after(mut self, types: impl IntoIterator<Item = NodeType>) -> Option<Self> {
        for node_type in types {
            let matched = self.next & self.expression.matching[node_type as usize];
            if matched == 0 {
                return None;
            }
            self.next = states(matched).fold(0, |next, state| next | self.expression.follow[state]);
            self.is_complete = matched & self.expression.last != 0;
        }
        Some(self)
    }

    /// Whether the content may end here.
    pub(crate) fn is_complete(self) -> bool {
        self.is_complete
    }
}

fn states(set: States) -> impl Iterator<Item = usize> {
    (0..64).filter(move |state| set & (1 << state) != 0)
}

/// What the surrounding expression needs to know of a part.
struct ExpressionPart {
    first: States,
    last: States,
    accepts_empty: bool,
}

impl ExpressionPart {
    const EMPTY: Self = Self {
        first: 0,
        last: 0,
        accepts_empty: true,
    };
}

struct ExpressionParser<'a> {
    /// In reverse order: the next token is the last one.
    tokens: Vec<&'a str>,
    types_of: &'a dyn Fn(&str) -> Vec<NodeType>,
    follow: Vec<States>,
    matching: Vec<States>,
}

impl ExpressionParser<'_> {
    fn choice(&mut self) -> ExpressionPart {
        let mut part = self.sequence();
        while self.tokens.pop_if(|token| *token == "|").is_some() {
            let other = self.sequence();
            part = ExpressionPart {
                first: part.first | other.first,
                last: part.last | other.last,
                accepts_empty: part.accepts_empty || other.accepts_empty,
            };
        }
        part
    }

    fn sequence(&mut self) -> ExpressionPart {
        let mut part = ExpressionPart::EMPTY;
        while self.tokens.last().is_some_and(|token| !matches!(*token, ")" | "|")) {
            let next = self.repeated();
            self.connect(part.last, next.first);
            part = ExpressionPart {
                first: part.first | if part.accepts_empty { next.first } else { 0 },
                last: next.last | if next.accepts_empty { part.last } else { 0 },
                accepts_empty: part.accepts_empty && next.accepts_empty,
            };
        }
        part
    }

    fn repeated(&mut self) -> ExpressionPart {
        let mut part = self.atom();
        while let Some(token) = self.tokens.pop_if(|token| matches!(*token, "*" | "+" | "?")) {
            if token != "?" {
                self.connect(part.last, part.first);
            }
            part.accepts_empty |= token != "+";
        }
        part
    }

    fn atom(&mut self) -> ExpressionPart {
        let token = self.tokens.pop().expect("content expression has a name here");
        if token == "(" {
            let part = self.choice();
            assert_eq!(
                self.tokens.pop(),
                Some(")"),
                "content expression closes its parenthesis"
            );
            return part;
        }
        let types = (self.types_of)(token);
        assert!(
            !types.is_empty(),
            "content expression names no node or group: {token:?}"
        );
        let state = 1 << self.follow.len();
        self.follow.push(0);
        for node_type in types {
            self.matching[node_type as usize] |= state;
        }
        ExpressionPart {
            first: state,
            last: state,
            accepts_empty: false,
        }
    }

    fn connect(&mut self, from: States, to: States) {
        for state in states(from) {
            self.follow[state] |= to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(expression: &str, children: &[NodeType]) -> bool {
        let types_of = |name: &str| match name {
            "block" => vec![NodeType::Paragraph, NodeType::Heading],
            _ => NodeType::from_name(name).into_iter().collect(),
        };
        let expression = ContentExpression::parse(expression, &types_of);
        let end = expression.start().after(children.iter().copied());
        end.is_some_and(ContentMatch::is_complete)
    }

    #[test]
    fn content_expression_with_every_operator_matches_its_sequences_only() {
        use NodeType::{Heading, Image, Paragraph, Table};
        for (expression, children, expected) in [
            ("", &[][..], true),
            ("", &[Paragraph], false),
            ("block+", &[], false),
            ("block+", &[Heading, Paragraph], true),
            ("paragraph block*", &[Heading], false),
            ("paragraph block*", &[Paragraph], true),
            ("paragraph block*", &[Paragraph, Heading, Paragraph], true),
            ("(paragraph | table)*", &[Table, Paragraph, Table], true),
            ("(paragraph | table)*", &[Table, Image], false),
            ("(paragraph table)+ image?", &[Paragraph, Table, Paragraph], false),
            (
                "(paragraph table)+ image?",
                &[Paragraph, Table, Paragraph, Table, Image],
                true,
            ),
            (
                "heading? (paragraph? table)* image",
                &[Table, Paragraph, Table, Image],
                true,
            ),
            ("heading? (paragraph? table)* image", &[Image], true),
            ("heading? (paragraph? table)* image", &[Paragraph, Image], false),
        ] {
            assert_eq!(matches(expression, children), expected, "{expression:?} {children:?}");
        }
    }
}
