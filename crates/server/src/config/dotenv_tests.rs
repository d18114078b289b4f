#![expect(clippy::unwrap_used, reason = "tests may panic")]
use proptest::prelude::*;

use super::*;

fn is_setting(name: &str) -> bool {
    matches!(name, "AUTH_SECRET" | "FRONTEND_URL")
}

fn read(text: &str) -> Vec<(String, String)> {
    parse(text.as_bytes(), &is_setting).unwrap().into_iter().collect()
}

fn refused(text: &[u8]) -> String {
    parse(text, &is_setting).unwrap_err().to_string()
}

/// The first part contains the examples of systemd's own test (`test-env-file.c`).
#[test]
fn dotenv_values_are_parsed_like_systemd() {
    for (text, expected) in [
        (
            "a=a\na=b\nb=b\\\nc\nd= d\\\ne  \\\nf  \ng=g\\ \nh= ąęół\\ śćńźżμ \ni=i\\",
            &[
                ("a", "b"),
                ("b", "bc"),
                ("d", "de  f"),
                ("g", "g "),
                ("h", "ąęół śćńźżμ"),
                ("i", "i"),
            ][..],
        ),
        ("a=a\\\n", &[("a", "a")]),
        (
            "# Generated\n\nHWMON_MODULES=\"coretemp f71882fg\"\n\n# For compatibility reasons\n\nMODULE_0=coretemp\nM=f",
            &[
                ("HWMON_MODULES", "coretemp f71882fg"),
                ("M", "f"),
                ("MODULE_0", "coretemp"),
            ],
        ),
        ("a=\nb=", &[("a", ""), ("b", "")]),
        (
            "a=\\ \\n \\t \\x \\y \\' \nb= \\$'                  \nc= ' \\n\\t\\$\\`\\\\\n'   \nd= \" \\n\\t\\$\\`\\\\\n\"   \n",
            &[
                ("a", " n t x y '"),
                ("b", "$'"),
                ("c", " \\n\\t\\$\\`\\\\\n"),
                ("d", " \\n\\t$`\\\n"),
            ],
        ),
        // Typical files.
        ("A=b # no comment", &[("A", "b # no comment")]),
        (
            "A=https://x/#y\n ; comment\n  B = c d \t\r\n",
            &[("A", "https://x/#y"), ("B", "c d")],
        ),
        ("A=$HOME ${B}", &[("A", "$HOME ${B}")]),
        ("A='x' \"y\"z", &[("A", "xyz")]),
        ("A=x \"y\"", &[("A", "x \"y\"")]),
        ("A=\"one\ntwo\"", &[("A", "one\ntwo")]),
        ("A=\"one\\\ntwo\"", &[("A", "onetwo")]),
        ("A==b=", &[("A", "=b=")]),
        ("# a \\comment\nA=1\n#", &[("A", "1")]),
        ("", &[]),
    ] {
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        assert_eq!(read(text), expected, "{text:?}");
    }
}

#[test]
fn malformed_line_is_reported_without_its_value() {
    for (text, expected) in [
        (
            &b"A=1\nAUTH_SECRET hushhush\nB=2"[..],
            "line 2 (AUTH_SECRET): there is no `=`",
        ),
        (b"A=1\n\nhushhush\n", "line 3: there is no `=`"),
        (b"hushhush", "line 1: there is no `=`"),
        (b"export AUTH_SECRET=hushhush\n", "line 1 (AUTH_SECRET): before the `=`"),
        (b"hush-hush=1\n", "line 1: before the `=`"),
        (b"=hushhush\n", "line 1: before the `=`"),
        (b"1A=hushhush\n", "line 1: before the `=`"),
        (
            "\u{feff}FRONTEND_URL=hushhush\n".as_bytes(),
            "line 1 (FRONTEND_URL): before the `=`",
        ),
        (
            b"\nAUTH_SECRET=\"hushhush\nB=2\nC=3\n",
            "line 2 (AUTH_SECRET): a quote is never closed",
        ),
        (
            b"A=1\nAUTH_SECRET=\"hushhush\\\"",
            "line 2 (AUTH_SECRET): a quote is never closed",
        ),
        (
            b"A='1\n2'\nAUTH_SECRET hushhush",
            "line 3 (AUTH_SECRET): there is no `=`",
        ),
        (
            b"A=1\nAUTH_SECRET=hush\xffhush\n",
            "line 2 (AUTH_SECRET): it is not UTF-8",
        ),
        (
            b"A=1\nAUTH_SECRET=hush\0hush\n",
            "line 2 (AUTH_SECRET): it is not UTF-8",
        ),
        (
            b"# a comment \\\nhushhush=1\n",
            "line 1: a comment ends with a backslash",
        ),
    ] {
        let context = refused(text);
        assert!(context.starts_with(expected), "{context}");
        assert!(!context.contains("hush"), "{context}");
    }
}

proptest! {
    #[test]
    fn quoted_value_roundtrips(value in "\\PC{0,40}|[ -~\\n\\t]{0,40}", other in "[A-Za-z0-9./:@ ]{0,20}") {
        let escaped: String = value
            .chars()
            .flat_map(|character| matches!(character, '"' | '\\' | '`' | '$').then_some('\\').into_iter().chain([character]))
            .collect();
        let text = format!("A=\"{escaped}\"\nB={other}\n");
        prop_assert_eq!(read(&text), vec![("A".to_owned(), value), ("B".to_owned(), other.trim().to_owned())]);
    }

    #[test]
    fn arbitrary_file_is_parsed_or_rejected(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        drop(parse(&bytes, &is_setting));
    }

    /// Short texts of special characters reach all states.
    #[test]
    fn error_never_shows_a_value(text in "[AB_=#;'\"\\\\ \n\r\t$]{0,30}(hushhush)?[AB=#'\"\\\\ \n]{0,10}") {
        if let Err(unreadable) = parse(text.as_bytes(), &is_setting) {
            prop_assert!(!unreadable.to_string().contains("hush"));
            prop_assert!(unreadable.line <= text.matches('\n').count() + 1);
        }
    }

    /// The library that sets the variables reads exactly what was parsed.
    #[test]
    fn values_pass_the_setter_unchanged(value in "[^\0]{0,40}|[ -~\\n\\t\\r]{0,40}") {
        let values = BTreeMap::from([("A".to_owned(), value), ("B".to_owned(), "end".to_owned())]);
        let text = quoted(&values);
        let set: Vec<(String, String)> = dotenvy::from_read_iter(text.as_bytes()).map(Result::unwrap).collect();
        prop_assert_eq!(set, values.into_iter().collect::<Vec<_>>());
    }
}
