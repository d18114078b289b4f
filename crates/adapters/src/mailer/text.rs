//! Renders the templates in `templates/mail`: the first line is the subject, a paragraph `{link}` is the link. Values
//! are substituted once and never interpreted as template text; line breaks and markup in them are removed or
//! escaped.

use domain::access::MemberRole;
use domain::email::EmailKind;

/// The maximum length of a value in characters.
const VALUE_MAX: usize = 254;

/// A language of the templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    English,
    German,
}

impl Language {
    /// Returns the language with this tag, as settings name it: `en` or `de`.
    pub fn from_tag(tag: &str) -> Option<Self> {
        [Self::English, Self::German]
            .into_iter()
            .find(|language| language.tag() == tag)
    }

    /// Returns the language of a locale (`de`, `de-AT`, `en` …); English for languages without templates.
    pub fn from_locale(locale: &str) -> Self {
        let language = locale.split(['-', '_']).next().unwrap_or_default();
        if language.eq_ignore_ascii_case("de") {
            Self::German
        } else {
            Self::English
        }
    }

    const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
        }
    }
}

/// A rendered email.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailText {
    pub subject: String,
    /// The text/plain part.
    pub plain: String,
    /// The text/html part.
    pub html: String,
}

macro_rules! template_file {
    ($($part:literal),+) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/mail/", $($part),+))
    };
}

macro_rules! template {
    ($name:literal, $language:expr) => {
        match $language {
            Language::English => template_file!($name, ".en.txt"),
            Language::German => template_file!($name, ".de.txt"),
        }
    };
}

const FRAME: &str = template_file!("frame.html");

const fn template(kind: EmailKind, language: Language) -> &'static str {
    match kind {
        EmailKind::PasswordReset => template!("password-reset", language),
        EmailKind::PasswordResetNotice => template!("password-reset-notice", language),
        EmailKind::Invitation => template!("invitation", language),
        EmailKind::AddressConfirmation => template!("address-confirmation", language),
        EmailKind::AddressNotice => template!("address-notice", language),
    }
}

/// Renders the invitation of an address to an organization. It is stored as [`EmailKind::Invitation`], because the
/// previous release reads the same table and knows no other kind.
pub fn render_organization_invitation(language: Language, values: &[(&str, &str)]) -> EmailText {
    render_template(template!("organization-invitation", language), language, values)
}

/// Renders the email to a user whose account was taken over; see [`render_organization_invitation`] for its kind.
pub fn render_account_takeover(language: Language, values: &[(&str, &str)]) -> EmailText {
    render_template(template!("taken-over", language), language, values)
}

/// Renders the notice of a removed second factor; see [`render_organization_invitation`] for its kind.
pub fn render_second_factor_reset(language: Language, values: &[(&str, &str)]) -> EmailText {
    render_template(template!("second-factor-reset", language), language, values)
}

/// What happened to a passkey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasskeyNotice {
    Added,
    Removed,
}

/// Renders the notice of an added or removed passkey; see [`render_organization_invitation`] for its kind.
pub fn render_passkey_notice(notice: PasskeyNotice, language: Language, values: &[(&str, &str)]) -> EmailText {
    let template = match notice {
        PasskeyNotice::Added => template!("passkey-added", language),
        PasskeyNotice::Removed => template!("passkey-removed", language),
    };
    render_template(template, language, values)
}

/// Renders the email of `groupwork mail test`.
pub fn render_test_message(language: Language, values: &[(&str, &str)]) -> EmailText {
    render_template(template!("test-message", language), language, values)
}

/// Returns the name of a role in an email.
pub const fn role_name(role: MemberRole, language: Language) -> &'static str {
    match (role, language) {
        (MemberRole::Owner, Language::English) => "owner",
        (MemberRole::Owner, Language::German) => "Inhaberin oder Inhaber",
        (MemberRole::Admin, Language::English) => "administrator",
        (MemberRole::Admin, Language::German) => "Verwaltung",
        (MemberRole::Teacher, Language::English) => "teacher",
        (MemberRole::Teacher, Language::German) => "Lehrkraft",
        (MemberRole::Student, Language::English) => "student",
        (MemberRole::Student, Language::German) => "Schülerin oder Schüler",
    }
}

/// Renders an email of this kind.
pub fn render(kind: EmailKind, language: Language, values: &[(&str, &str)]) -> EmailText {
    render_template(template(kind, language), language, values)
}

/// Substitutes the values in a template.
fn render_template(template: &str, language: Language, values: &[(&str, &str)]) -> EmailText {
    let values: Vec<(&str, String)> = values.iter().map(|(name, value)| (*name, one_line(value))).collect();
    let (subject, body) = template.split_once("\n\n").unwrap_or((template, ""));
    let subject = substitute(subject, &values, str::to_owned);
    let plain = substitute(body.trim_end(), &values, str::to_owned).replace('\n', "\r\n") + "\r\n";
    let paragraphs = body.trim().split("\n\n").map(|paragraph| {
        if paragraph == "{link}" {
            substitute("<p><a href=\"{link}\">{link}</a></p>", &values, escape_html)
        } else {
            format!("<p>{}</p>", substitute(&escape_html(paragraph), &values, escape_html))
        }
    });
    let body: Vec<String> = paragraphs.collect();
    let frame = [
        ("language", language.tag().to_owned()),
        ("subject", escape_html(&subject)),
        ("body", body.join("\n")),
    ];
    let html = substitute(FRAME, &frame, str::to_owned);
    EmailText { subject, plain, html }
}

/// Substitutes each `{name}`; unknown placeholders stay.
fn substitute(template: &str, values: &[(&str, String)], write: impl Fn(&str) -> String) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let found = after
            .split_once('}')
            .and_then(|(name, rest)| Some((values.iter().find(|(known, _)| *known == name)?, rest)));
        rest = if let Some(((_, value), behind)) = found {
            text.push_str(&write(value));
            behind
        } else {
            text.push('{');
            after
        };
    }
    text + rest
}

/// Removes everything from a value that could begin a new line or hide text: control characters and marks that change
/// the text direction.
pub fn one_line(value: &str) -> String {
    let is_bidi_control = |character: char| matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}');
    let characters = value.chars().map(|c| if c.is_control() { ' ' } else { c });
    let text: String = characters.filter(|c| !is_bidi_control(*c)).collect();
    if text.contains("://") {
        // A link of this service, which may be longer.
        text.trim().to_owned()
    } else {
        text.trim().chars().take(VALUE_MAX).collect()
    }
}

fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [(&str, &str); 6] = [
        ("name", "Ada"),
        ("organization", "Northside"),
        ("link", "https://school.example/x?a=1&b=2"),
        ("days", "7"),
        ("newAddress", "ada@new.example"),
        ("by", "Adam"),
    ];

    #[test]
    fn every_email_is_complete_in_every_language() {
        for kind in EmailKind::ALL {
            for language in [Language::English, Language::German] {
                let EmailText { subject, plain, html } = render(*kind, language, &VALUES);
                for text in [&subject, &plain, &html] {
                    assert!(
                        !text.contains('{') && !text.contains('}'),
                        "{kind} {language:?}: {text}"
                    );
                }
                assert!(!subject.is_empty() && !subject.contains('\n'));
                assert!(plain.contains("\r\n\r\nhttps://school.example/x?a=1&b=2"), "{plain}");
                assert!(
                    html.contains("<a href=\"https://school.example/x?a=1&amp;b=2\">"),
                    "{html}"
                );
                assert!(plain.contains("Ada") && html.contains("Ada"));
            }
        }
        let german = render(EmailKind::PasswordReset, Language::German, &VALUES);
        assert_ne!(german, render(EmailKind::PasswordReset, Language::English, &VALUES));
    }

    #[test]
    fn organization_invitation_is_complete_in_every_language() {
        for language in [Language::English, Language::German] {
            let role = role_name(MemberRole::Teacher, language);
            let values = [&VALUES[..], &[("host", "north.example"), ("role", role)]].concat();
            let EmailText { subject, plain, html } = render_organization_invitation(language, &values);
            for text in [&subject, &plain, &html] {
                assert!(
                    !text.contains('{') && text.contains("Northside"),
                    "{language:?}: {text}"
                );
            }
            assert!(plain.contains("north.example") && plain.contains(role), "{plain}");
            assert!(plain.contains("\r\n\r\nhttps://school.example/x?a=1&b=2"), "{plain}");
        }
    }

    #[test]
    fn notice_of_a_removed_second_factor_is_complete_in_every_language() {
        for language in [Language::English, Language::German] {
            let EmailText { subject, plain, html } = render_second_factor_reset(language, &VALUES);
            for text in [&subject, &plain, &html] {
                assert!(!text.contains('{'), "{language:?}: {text}");
            }
            assert!(plain.contains("\r\n\r\nhttps://school.example/x?a=1&b=2"), "{plain}");
        }
    }

    #[test]
    fn notices_of_passkeys_are_complete_in_every_language() {
        for notice in [PasskeyNotice::Added, PasskeyNotice::Removed] {
            for language in [Language::English, Language::German] {
                let values = [&VALUES[..], &[("passkey", "Phone <1>")]].concat();
                let EmailText { subject, plain, html } = render_passkey_notice(notice, language, &values);
                for text in [&subject, &plain, &html] {
                    assert!(!text.contains('{'), "{language:?}: {text}");
                }
                assert!(
                    plain.contains("Phone <1>") && html.contains("Phone &lt;1&gt;"),
                    "{plain}"
                );
                assert!(plain.contains("\r\n\r\nhttps://school.example/x?a=1&b=2"), "{plain}");
            }
        }
    }

    #[test]
    fn email_about_a_take_over_is_complete_in_every_language() {
        for language in [Language::English, Language::German] {
            let EmailText { subject, plain, html } = render_account_takeover(language, &VALUES);
            for text in [&subject, &plain, &html] {
                assert!(!text.contains('{'), "{language:?}: {text}");
            }
            assert!(plain.contains("Northside"), "{plain}");
            assert!(plain.contains("\r\n\r\nhttps://school.example/x?a=1&b=2"), "{plain}");
        }
    }

    #[test]
    fn values_in_emails_are_escaped() {
        let values = [
            ("name", "Eve\r\nBcc: all@school.example\u{202e}"),
            ("organization", "<b>{link}</b>\nBcc: x"),
            ("link", "https://school.example/"),
            ("days", "7"),
        ];
        let EmailText { subject, plain, html } = render(EmailKind::Invitation, Language::English, &values);
        assert_eq!(subject, "Your account at <b>{link}</b> Bcc: x");
        assert!(
            !plain.contains("\nBcc") && plain.contains("Hello Eve  Bcc: all@school.example,"),
            "{plain}"
        );
        assert!(
            html.contains("&lt;b&gt;{link}&lt;/b&gt; Bcc: x") && !html.contains("<b>"),
            "{html}"
        );
    }

    #[test]
    fn locale_selects_its_language() {
        assert_eq!(Language::from_locale("de-AT"), Language::German);
        assert_eq!(Language::from_locale("DE"), Language::German);
        assert_eq!(Language::from_locale("den"), Language::English);
        assert_eq!(Language::from_locale(""), Language::English);
        assert_eq!(Language::from_tag("de"), Some(Language::German));
        assert_eq!(Language::from_tag("de-AT"), None);
    }
}
