//! Addresses and folders as settings spell them.

/// Plain names between slashes, at least one: the whole document server is no folder of results.
pub(super) fn is_folder(path: &str) -> bool {
    let inside = path.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let is_plain = |name: &str| {
        let mut bytes = name.bytes();
        !matches!(name, "" | "." | "..") && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"._~-".contains(&byte))
    };
    inside.is_some_and(|inside| inside.split('/').all(is_plain))
}

/// `scheme://host[:port]` of an http(s) address, lower-case, without a default port.
pub fn origin_of(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "http" => ":80",
        "https" => ":443",
        _ => return None,
    };
    let authority = rest
        .split(['/', '?', '#'])
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let host = authority.strip_suffix(default_port).unwrap_or(&authority);
    let plain = !host.is_empty() && !host.contains('@') && !host.contains(char::is_whitespace);
    plain.then(|| format!("{scheme}://{host}"))
}
