//! Damaged and forged variants of a valid backup archive.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

/// An entry: its name, its type and its bytes.
type ForgedEntry = (String, tar::EntryType, Vec<u8>);

const SEAL: usize = 2048;

/// Returns each variant: a description, the bytes, and the text that the error must contain.
#[expect(clippy::too_many_lines, reason = "one list, which is read as one")]
pub fn all(whole: &[u8]) -> Vec<(String, Vec<u8>, &'static str)> {
    let mut all = Vec::new();
    let torn = "is no whole backup";
    for length in [0, 1, 511, SEAL, whole.len() / 3, whole.len() - SEAL, whole.len() - 1] {
        all.push((format!("cut to {length}"), whole[..length].to_vec(), torn));
    }
    let mut longer = whole.to_vec();
    longer.push(0);
    all.push(("longer".to_owned(), longer, torn));
    for number in 0..24 {
        let mut flipped = whole.to_vec();
        // Positions across the whole archive, including paddings and the end.
        let at = (whole.len() - 1) * number / 23;
        flipped[at] ^= 1 << (number % 8);
        all.push((format!("bit flipped at {at}"), flipped, torn));
    }
    // From here on the checksum is correct, as in a forged archive.
    let mut forge = |what: &str, why: &'static str, change: &dyn Fn(&mut Vec<ForgedEntry>)| {
        let mut entries = entries(whole);
        change(&mut entries);
        all.push((what.to_owned(), with_checksum(&entries), why));
    };
    let is_file = |entry: &&mut ForgedEntry| entry.0.starts_with("files/");
    forge("a name that leads out", "contradicts itself", &|entries| {
        "files/../../../etc/passwd".clone_into(&mut entries.iter_mut().find(is_file).unwrap().0);
    });
    forge("an absolute name", "unknown entry", &|entries| {
        "/etc/passwd".clone_into(&mut entries.iter_mut().find(is_file).unwrap().0);
    });
    forge("a link", "an entry is no file", &|entries| {
        entries.iter_mut().find(is_file).unwrap().1 = tar::EntryType::Symlink;
    });
    forge("a file twice", "contradicts itself", &|entries| {
        let twice = entries.iter().position(|entry| entry.0.starts_with("files/")).unwrap();
        entries.insert(twice, entries[twice].clone());
    });
    forge("a table twice", "its tables are not those", &|entries| {
        let twice = entries.iter().position(|entry| entry.0.starts_with("rows/")).unwrap();
        entries.insert(twice, entries[twice].clone());
    });
    forge("a file less", "contradicts itself", &|entries| {
        let one = entries.iter().position(|entry| entry.0.starts_with("files/")).unwrap();
        entries.remove(one);
    });
    forge("other bytes", "contradicts itself", &|entries| {
        entries.iter_mut().find(is_file).unwrap().2[100] ^= 1;
    });
    forge("an unknown part", "unknown entry", &|entries| {
        entries.insert(1, ("program.sh".to_owned(), tar::EntryType::Regular, b"echo".to_vec()));
    });
    forge("no manifest", "it has no manifest", &|entries| {
        entries.pop();
    });
    forge("something after the end", "comes after the end", &|entries| {
        entries.push(("rows/users.jsonl.gz".to_owned(), tar::EntryType::Regular, Vec::new()));
    });
    forge("a later format", "it is of format 2", &|entries| {
        rewrite(&mut entries[0].2, "\"format\": 1", "\"format\": 2");
    });
    forge("a later schema", "this one knows schemas up to", &|entries| {
        rewrite(&mut entries[0].2, "\"schema\": ", "\"schema\": 9");
    });
    forge("another row", "contradicts itself", &|entries| {
        let users = entries
            .iter_mut()
            .find(|entry| entry.0 == "rows/users.jsonl.gz")
            .unwrap();
        let mut rows = String::new();
        GzDecoder::new(users.2.as_slice()).read_to_string(&mut rows).unwrap();
        users.2 = gzip(rows.replace("STUDENT", "SUPER_ADMIN").as_bytes());
    });
    forge("a bomb", "contradicts itself", &|entries| {
        let users = entries
            .iter_mut()
            .find(|entry| entry.0 == "rows/users.jsonl.gz")
            .unwrap();
        users.2 = gzip(&vec![b' '; 200 << 20]);
    });
    forge("a key that leads out", "is no key of a file", &|entries| {
        let at = entries.iter().position(|entry| entry.0 == "files.jsonl.gz").unwrap();
        let mut lines = String::new();
        GzDecoder::new(entries[at].2.as_slice())
            .read_to_string(&mut lines)
            .unwrap();
        let list = entries[at].2.clone();
        let lines = lines.replacen("\"key\":\"", "\"key\":\"../", 1);
        let forged = gzip(lines.as_bytes());
        let (old, new) = (hash(&list), hash(&forged));
        let (size, forged_size) = (list.len(), forged.len());
        entries[at].2 = forged;
        let manifest = &mut entries.last_mut().unwrap().2;
        rewrite(manifest, &old, &new);
        let text = String::from_utf8(manifest.clone()).unwrap();
        let (before, after) = text.split_once("\"list\"").unwrap();
        let after = after.replacen(&format!("\"size\": {size}"), &format!("\"size\": {forged_size}"), 1);
        let unpacked = after
            .split("\"unpacked\": ")
            .nth(1)
            .unwrap()
            .split(',')
            .next()
            .unwrap()
            .to_owned();
        let longer = unpacked.parse::<usize>().unwrap() + 3;
        let after = after.replacen(
            &format!("\"unpacked\": {unpacked}"),
            &format!("\"unpacked\": {longer}"),
            1,
        );
        *manifest = format!("{before}\"list\"{after}").into_bytes();
    });
    all
}

fn rewrite(bytes: &mut Vec<u8>, from: &str, to: &str) {
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(text.contains(from), "{text}");
    *bytes = text.replacen(from, to, 1).into_bytes();
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn entries(whole: &[u8]) -> Vec<ForgedEntry> {
    let mut archive = tar::Archive::new(&whole[..whole.len() - SEAL]);
    let read = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (
            String::from_utf8(entry.path_bytes().into_owned()).unwrap(),
            tar::EntryType::Regular,
            bytes,
        )
    });
    read.collect()
}

fn with_checksum(entries: &[ForgedEntry]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, sort, bytes) in entries {
        append(&mut out, name, *sort, bytes);
    }
    let digest = hash(&out);
    append(
        &mut out,
        "SHA256",
        tar::EntryType::Regular,
        format!("{digest}\n").as_bytes(),
    );
    out.extend_from_slice(&[0; 1024]);
    out
}

fn append(out: &mut Vec<u8>, name: &str, sort: tar::EntryType, bytes: &[u8]) {
    let mut head = tar::Header::new_ustar();
    // `set_path` rejects these names.
    head.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
    head.set_entry_type(sort);
    head.set_size(bytes.len() as u64);
    head.set_mode(0o600);
    head.set_mtime(0);
    head.set_cksum();
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(bytes);
    out.resize(out.len().next_multiple_of(512), 0);
}

fn hash(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}
