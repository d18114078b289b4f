//! Reads docs/rules.md.

use std::path::{Path, PathBuf};

/// The headings of the page, in order, and how many rules stand below each.
const HEADINGS: [(&str, usize); 30] = [
    ("What the service does", 1),
    ("Vocabulary", 10),
    ("Business rules", 6),
    ("Identity and tenancy", 5),
    ("Class", 3),
    ("Course", 4),
    ("Group", 5),
    ("Assignment (topic)", 3),
    ("GroupAssignment", 4),
    ("Effective task text of a group", 5),
    ("Work room, messages, documents", 6),
    ("Activity log", 5),
    ("Document", 5),
    ("Group visibility", 1),
    ("Help flag", 2),
    ("Other status values", 3),
    ("Document handling", 3),
    ("Courses", 6),
    ("Courses: rules", 3),
    ("Topics", 5),
    ("Topics: rules", 5),
    ("Groups", 3),
    ("Activity log: route", 1),
    ("Other routes", 2),
    ("Authentication", 11),
    ("Events", 6),
    ("Errors", 8),
    ("Limits", 7),
    ("Versioning", 6),
    ("Consistency checks", 20),
];
const MISTAKES: (&str, usize) = ("Likely mistakes", 20);

/// One rule: where it stands, and the names in its last two cells.
struct Rule {
    place: String,
    held_by: Vec<String>,
    proven_by: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn names(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The rules, and how many stand below each heading, numbered from one.
fn rules() -> (Vec<(String, usize)>, Vec<Rule>) {
    let page = std::fs::read_to_string(root().join("docs/rules.md")).unwrap();
    let (mut headings, mut rules) = (Vec::<(String, usize)>::new(), Vec::new());
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            headings.push((heading.to_owned(), 0));
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let Some(number) = cells[0].parse::<usize>().ok().filter(|_| line.starts_with('|')) else {
            continue;
        };
        let (heading, count) = headings.last_mut().unwrap();
        *count += 1;
        assert_eq!(number, *count, "{heading}: a number is missing or twice there");
        assert_eq!(cells.len(), 4, "{heading} {number}: four cells");
        rules.push(Rule {
            place: format!("{heading} {number}"),
            held_by: names(cells[2]),
            proven_by: names(cells[3]),
        });
    }
    (headings, rules)
}

/// The file that a name begins with: of a crate, of the schema, or of these tests.
fn text_of(file: &str, is_test: bool) -> Option<String> {
    let mut places = Vec::new();
    if file.starts_with("migrations/") {
        return std::fs::read_to_string(root().join(format!("{file}.sql"))).ok();
    }
    if is_test {
        let binaries = ["api", "permissions", "documents", "live", "operations", "resilience"];
        places.extend(binaries.map(|binary| format!("crates/server/tests/{binary}/{file}")));
    }
    if let Some((krate, rest)) = file.split_once('/') {
        places.push(format!("crates/{krate}/src/{rest}"));
        places.push(format!("crates/{krate}/tests/wire/{rest}"));
    }
    let mut files = places
        .iter()
        .flat_map(|place| [format!("{place}.rs"), format!("{place}/mod.rs")]);
    files.find_map(|file| std::fs::read_to_string(root().join(file)).ok())
}

/// What stands before each place where the item is a word of its own.
fn before<'t>(text: &'t str, item: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(item).filter_map(move |(at, _)| {
        let (before, after) = (&text[..at], &text[at + item.len()..]);
        (!before.ends_with(is_part) && !after.starts_with(is_part)).then_some((before, after))
    })
}

fn defines(text: &str, item: &str) -> bool {
    let words = [
        "fn",
        "struct",
        "enum",
        "const",
        "static",
        "trait",
        "type",
        "macro_rules!",
    ];
    before(text, item).any(|(before, _)| words.iter().any(|word| before.trim_end().ends_with(word)))
}

/// A function that the runner calls: marked as a test, or made one by `both!`, `studio!` or `proptest!`.
fn is_test(text: &str, item: &str) -> bool {
    before(text, item).any(|(before, after)| {
        let begun = before.trim_end();
        let by_macro = (begun.ends_with('(') || begun.ends_with(']')) && after.trim_start().starts_with(',');
        let lead = begun
            .strip_suffix("fn")
            .map(|lead| lead.trim_end().trim_end_matches("async").trim_end());
        let marked = lead.is_some_and(|lead| {
            let above = &lead[lead.rfind('}').map_or(0, |end| end + 1)..];
            above.contains("#[test]") || above.contains("#[tokio::test")
        });
        by_macro || marked
    })
}

#[test]
fn every_rule_is_on_the_page_and_every_name_on_it_exists() {
    let (headings, rules) = rules();
    let expected = HEADINGS.iter().chain([&MISTAKES]);
    let expected: Vec<_> = expected
        .map(|(heading, count)| ((*heading).to_owned(), *count))
        .collect();
    assert_eq!(headings, expected);
    let mut faults = Vec::new();
    for Rule {
        place,
        held_by,
        proven_by,
    } in rules
    {
        if held_by.is_empty() || proven_by.is_empty() {
            faults.push(format!("{place}: nothing holds it, or nothing proves it"));
        }
        for name in held_by {
            let found = name.rsplit_once("::").is_some_and(|(file, item)| {
                let is_schema = file.starts_with("migrations/");
                let there = |text: String| {
                    if is_schema {
                        before(&text, item).next().is_some()
                    } else {
                        defines(&text, item)
                    }
                };
                text_of(file, false).is_some_and(there)
            });
            if !found {
                faults.push(format!("{place}: there is no {name}"));
            }
        }
        for name in proven_by {
            // What looks over every database after every test is no test by itself.
            let found = name == "test-support/invariants::check"
                || name
                    .rsplit_once("::")
                    .is_some_and(|(file, item)| text_of(file, true).is_some_and(|text| is_test(&text, item)));
            if !found {
                faults.push(format!("{place}: there is no test {name}"));
            }
        }
    }
    assert!(faults.is_empty(), "docs/rules.md:\n{}", faults.join("\n"));
}

#[test]
fn a_name_that_is_gone_is_noticed() {
    let text = "both!(one_story, |app| {});\n#[test]\nfn two() {\n    three();\n}\nfn three() {}\nboth!(\n    #[ignore]\n    four,\n    |app| {});";
    for name in ["one_story", "two", "four"] {
        assert!(is_test(text, name), "{name}");
    }
    for name in ["one", "three", "story", "five"] {
        assert!(!is_test(text, name), "{name}");
    }
    assert!(defines(text, "three") && !defines(text, "thre") && !defines(text, "app"));
}
