//! Damaged and forged variants of an archive of a school. The forged ones have correct checksums: who writes an archive
//! can write these.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use flate2::Compression;
use flate2::read::{DeflateDecoder, GzDecoder, ZlibDecoder};
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

type SchoolEntry = (String, Vec<u8>);

const SEAL: usize = 2048;

/// Ids of another school of the installation.
pub struct ForeignRows {
    pub person: String,
    pub organization: String,
    pub subject: String,
    pub class: String,
}

/// Returns each variant: a description, the bytes, and the text that the error must contain.
#[expect(clippy::too_many_lines, reason = "one list, which is read as one")]
pub fn all(whole: &[u8], foreign: &ForeignRows) -> Vec<(String, Vec<u8>, &'static str)> {
    let mut all = damaged(whole);
    let mut forge = |what: &str, why: &'static str, change: &dyn Fn(&mut Forgery)| {
        let mut forgery = Forgery::of(whole);
        change(&mut forgery);
        all.push((what.to_owned(), forgery.bytes(), why));
    };
    forge("a later schema", "this one knows schemas up to", &|forgery| {
        forgery.header["schema"] = json!(90_000);
    });
    forge("an earlier schema", "this one reads schemas from", &|forgery| {
        forgery.header["schema"] = json!(3);
    });
    forge("a later version", "another format or a later version", &|forgery| {
        forgery.header["version"] = json!(2);
    });
    forge("a rank", "has no column \"role\"", &|forgery| {
        forgery.add_column("users", "role", &json!("SUPER_ADMIN"));
    });
    forge("a verified mailbox", "has no column \"email_verified\"", &|forgery| {
        forgery.add_column("users", "email_verified", &json!(true));
    });
    forge("an unknown role", "there is no role", &|forgery| {
        forgery.set("members", "role", &json!("root"));
    });
    forge(
        "another organization",
        "has no column \"organization_id\"",
        &|forgery| {
            forgery.add_column("subjects", "organization_id", &json!(foreign.organization));
        },
    );
    forge(
        "the id of another school",
        "contradicts itself about the school",
        &|forgery| {
            forgery.set("organizations", "id", &json!(foreign.organization));
        },
    );
    forge("an author of another school", "who is not in the archive", &|forgery| {
        forgery.set("feedback", "author_id", &json!(foreign.person));
    });
    forge("a member of another school", "who is not in the archive", &|forgery| {
        forgery.set("members", "user_id", &json!(foreign.person));
    });
    forge(
        "a person of another school in a list",
        "who is not in the archive",
        &|forgery| {
            forgery.set("submissions", "member_ids", &json!(json!([foreign.person]).to_string()));
        },
    );
    forge(
        "a person of another school in packed commits",
        "who is not in the archive",
        &|forgery| {
            forgery.set("document_steps", "packed_from", &json!(1));
            forgery.set("document_steps", "steps", &json!(pack_by(&foreign.person)));
        },
    );
    for (what, table, column, value) in [
        (
            "a submitter",
            "documents.released",
            "submitted_by_id",
            foreign.person.clone(),
        ),
        ("a member", "group_members", "user_id", foreign.person.clone()),
        (
            "an editor",
            "document_revisions",
            "history",
            json!({"changes": [{"userId": foreign.person}]}).to_string(),
        ),
        (
            "an author",
            "submission_documents",
            "authorship",
            json!({"a": [foreign.person]}).to_string(),
        ),
    ] {
        let what = format!("{what} of another school in a deleted object");
        forge(&what, "who is not in the archive", &|forgery| {
            forgery.add_to_deleted_object(table, column, &value);
        });
    }
    forge("a damaged pack of commits", "packed commits are damaged", &|forgery| {
        forgery.set("document_steps", "packed_from", &json!(1));
        forgery.set("document_steps", "steps", &json!("x"));
    });
    forge("the id of a row of another school", "rows of subjects", &|forgery| {
        forgery.set("subjects", "id", &json!(foreign.subject));
    });
    forge("a course in a class of another school", "rows of courses", &|forgery| {
        forgery.set("courses", "class_id", &json!(foreign.class));
    });
    forge(
        "a table of credentials",
        "sessions is no table of a school",
        &|forgery| {
            let header = json!({"table": "sessions", "columns": [["id", "text"]]});
            forgery.lines.push(header);
            forgery.lines.push(json!(["s"]));
        },
    );
    forge(
        "a file that is not in the archive",
        "which is not in the archive",
        &|forgery| {
            forgery.set("group_attachments", "file_key", &json!("another-file"));
        },
    );
    forge("a key that leads out", "is no key of a file", &|forgery| {
        forgery.list = forgery.list.replacen("\"key\":\"", "\"key\":\"../", 1);
    });
    forge("an address that is none", "the address of the person", &|forgery| {
        forgery.set("users", "email", &json!("=cmd|x@"));
    });
    forge("a placeholder as an address", "the address of the person", &|forgery| {
        forgery.set("users", "email", &json!("root@no-email.invalid"));
    });
    forge("a name that is none", "the name of the person", &|forgery| {
        forgery.set("users", "name", &json!(""));
    });
    forge("a column twice", "of this type here", &|forgery| {
        forgery.add_column("subjects", "name", &json!("x"));
    });
    forge("a table in two places", "are in two places", &|forgery| {
        let header = forgery
            .lines
            .iter()
            .find(|line| line["table"] == "subjects")
            .unwrap()
            .clone();
        forgery.lines.push(header);
        let columns = forgery.lines.last().unwrap()["columns"].as_array().unwrap().len();
        forgery.lines.push(Value::Array(vec![Value::Null; columns]));
    });
    forge("a revision of another document", "a row refers to a row", &|forgery| {
        forgery.set("documents", "current_revision_id", &json!("elsewhere"));
    });
    forge("a damaged deleted object", "of the deleted object", &|forgery| {
        forgery.set("deletion_archives", "seal", &json!("0"));
    });
    forge("an archive without people", "must come first", &|forgery| {
        let index = forgery.lines.iter().position(|line| line["table"] == "users").unwrap();
        let end = index + 1 + forgery.lines[index + 1..].iter().position(Value::is_object).unwrap();
        forgery.lines.drain(index..end);
    });
    let mut bomb = Forgery::of(whole);
    bomb.bomb = true;
    all.push(("a bomb".to_owned(), bomb.bytes(), "contradicts itself"));
    all
}

/// Returns an archive in which a document that lost its topic was created by a person of another school. A restore does
/// not write who created it.
pub fn with_foreign_creator(whole: &[u8], person: &str) -> Vec<u8> {
    let mut forgery = Forgery::of(whole);
    forgery.add_to_deleted_object("documents.released", "created_by_id", person);
    forgery.bytes()
}

/// Returns the authors of a pack of commits.
pub fn authors_of(pack: &str) -> Vec<String> {
    let bytes = STANDARD_NO_PAD.decode(pack).unwrap();
    let pack: Value = serde_json::from_reader(DeflateDecoder::new(bytes.as_slice())).unwrap();
    let authors = pack["authors"].as_array().unwrap().iter();
    authors.map(|author| author.as_str().unwrap().to_owned()).collect()
}

/// Returns a pack with one commit of this author.
pub fn pack_by(author: &str) -> String {
    let pack = json!({"authors": [author], "clients": ["c"], "commits": [[0, 0, "ref", 0, []]]});
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(pack.to_string().as_bytes()).unwrap();
    STANDARD_NO_PAD.encode(encoder.finish().unwrap())
}

fn damaged(whole: &[u8]) -> Vec<(String, Vec<u8>, &'static str)> {
    let torn = "is no whole archive";
    let mut all = Vec::new();
    for length in [0, 1, SEAL, whole.len() / 2, whole.len() - SEAL, whole.len() - 1] {
        all.push((format!("cut to {length}"), whole[..length].to_vec(), torn));
    }
    for number in 0..16 {
        let mut flipped = whole.to_vec();
        let at = (whole.len() - 1) * number / 15;
        flipped[at] ^= 1 << (number % 8);
        all.push((format!("bit flipped at {at}"), flipped, torn));
    }
    all
}

/// An archive with its rows as lines.
struct Forgery {
    header: Value,
    lines: Vec<Value>,
    list: String,
    files: Vec<SchoolEntry>,
    manifest: Value,
    bomb: bool,
}

impl Forgery {
    fn of(whole: &[u8]) -> Self {
        let mut entries = entries(whole);
        let header = serde_json::from_slice(&entries.remove("school.json").unwrap()).unwrap();
        let manifest = serde_json::from_slice(&entries.remove("manifest.json").unwrap()).unwrap();
        let mut list = String::new();
        let packed = entries.remove("files.jsonl.gz").unwrap();
        GzDecoder::new(packed.as_slice()).read_to_string(&mut list).unwrap();
        let (mut lines, mut files) = (Vec::new(), Vec::new());
        for (name, bytes) in entries {
            if name.starts_with("files/") {
                files.push((name, bytes));
                continue;
            }
            let mut text = String::new();
            ZlibDecoder::new(STANDARD.decode(bytes).unwrap().as_slice())
                .read_to_string(&mut text)
                .unwrap();
            for line in text.lines() {
                let line: Value = serde_json::from_str(line).unwrap();
                // Each chunk names its first table again.
                let last = lines.iter().rev().find(|line: &&Value| line.is_object());
                if !line.is_object() || last != Some(&line) {
                    lines.push(line);
                }
            }
        }
        Self {
            header,
            lines,
            list,
            files,
            manifest,
            bomb: false,
        }
    }

    fn add_column(&mut self, table: &str, column: &str, value: &Value) {
        let kind = if value.is_boolean() { "bool" } else { "text" };
        self.visit(table, |line| match line {
            Value::Object(header) => header["columns"].as_array_mut().unwrap().push(json!([column, kind])),
            other => other.as_array_mut().unwrap().push(value.clone()),
        });
    }

    /// Sets a column of the first row.
    fn set(&mut self, table: &str, column: &str, value: &Value) {
        let (mut index, mut is_done) = (0, false);
        self.visit(table, |line| match line {
            Value::Object(header) => {
                let columns = header["columns"].as_array().unwrap();
                index = columns.iter().position(|found| found[0] == column).unwrap();
            }
            other if !is_done => {
                other[index] = value.clone();
                is_done = true;
            }
            _ => {}
        });
        assert!(is_done, "{table} has no rows");
    }

    /// Appends a row to the archive of the first deleted object, with its checksums.
    fn add_to_deleted_object(&mut self, table: &str, column: &str, value: &str) {
        let mut archive = None;
        self.rows("deletion_archives", |columns, row| {
            if archive.is_none() && row[columns["manifest"]] != "" {
                archive = Some(row[columns["id"]].clone());
            }
        });
        let archive = archive.expect("a deleted object");
        let (mut text, mut chunks) = (String::new(), 0);
        let lines = [
            json!({"table": table, "columns": [["id", "text"], [column, "text"]]}),
            json!(["x", value]),
        ];
        self.rows("deletion_archive_chunks", |columns, row| {
            if row[columns["archive_id"]] != archive {
                return;
            }
            let packed = STANDARD.decode(row[columns["content"]].as_str().unwrap()).unwrap();
            let mut chunk = String::new();
            ZlibDecoder::new(packed.as_slice()).read_to_string(&mut chunk).unwrap();
            if chunks == 0 {
                chunk.extend(lines.iter().map(|line| format!("{line}\n")));
            }
            chunks += 1;
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(chunk.as_bytes()).unwrap();
            row[columns["content"]] = json!(STANDARD.encode(encoder.finish().unwrap()));
            text.push_str(&chunk);
        });
        assert!(chunks > 0, "no chunks");
        self.rows("deletion_archives", |columns, row| {
            if row[columns["id"]] != archive {
                return;
            }
            let mut manifest: Value = serde_json::from_str(row[columns["manifest"]].as_str().unwrap()).unwrap();
            manifest["sha256"] = json!(hash(text.as_bytes()));
            let manifest = manifest.to_string();
            row[columns["seal"]] = json!(hash(manifest.as_bytes()));
            row[columns["manifest"]] = json!(manifest);
        });
    }

    /// Calls `change` with the positions of the columns and each row of a table.
    fn rows(&mut self, table: &str, mut change: impl FnMut(&BTreeMap<String, usize>, &mut Value)) {
        let mut columns = BTreeMap::new();
        self.visit(table, |line| match line {
            Value::Object(header) => {
                let names = header["columns"].as_array().unwrap().iter().enumerate();
                columns = names
                    .map(|(index, column)| (column[0].as_str().unwrap().to_owned(), index))
                    .collect();
            }
            row => change(&columns, row),
        });
    }

    fn visit(&mut self, table: &str, mut change: impl FnMut(&mut Value)) {
        let mut is_inside = false;
        for line in &mut self.lines {
            if line.is_object() {
                is_inside = line["table"] == table;
            }
            if is_inside {
                change(line);
            }
        }
    }

    fn bytes(mut self) -> Vec<u8> {
        let mut text = String::new();
        let (mut tables, mut table) = (BTreeMap::<String, i64>::new(), String::new());
        for line in &self.lines {
            match line["table"].as_str() {
                Some(name) => name.clone_into(&mut table),
                None => *tables.entry(table.clone()).or_default() += 1,
            }
            text.push_str(&line.to_string());
            text.push('\n');
        }
        let mut rows = text.into_bytes();
        if self.bomb {
            rows.resize(200 << 20, b' ');
        }
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&rows).unwrap();
        let chunk = STANDARD.encode(encoder.finish().unwrap());
        let mut list = GzEncoder::new(Vec::new(), Compression::default());
        list.write_all(self.list.as_bytes()).unwrap();
        let list = list.finish().unwrap();
        self.manifest["tables"] = json!(tables);
        self.manifest["chunks"] = json!(1);
        self.manifest["sha256"] = json!(hash(&rows));
        self.manifest["list"] = json!({"size": list.len(), "unpacked": self.list.len(), "sha256": hash(&list)});
        let mut all = vec![
            ("school.json".to_owned(), self.header.to_string().into_bytes()),
            ("chunks/0000000001".to_owned(), chunk.into_bytes()),
            ("files.jsonl.gz".to_owned(), list),
        ];
        all.append(&mut self.files);
        all.push(("manifest.json".to_owned(), self.manifest.to_string().into_bytes()));
        let mut out = Vec::new();
        for (name, bytes) in &all {
            append(&mut out, name, bytes);
        }
        let digest = hash(&out);
        append(&mut out, "SHA256", format!("{digest}\n").as_bytes());
        out.extend_from_slice(&[0; 1024]);
        out
    }
}

/// Returns the entries of an archive by name.
pub fn entries(whole: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = tar::Archive::new(&whole[..whole.len() - SEAL]);
    let read = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (String::from_utf8(entry.path_bytes().into_owned()).unwrap(), bytes)
    });
    read.collect()
}

fn append(out: &mut Vec<u8>, name: &str, bytes: &[u8]) {
    let mut head = tar::Header::new_ustar();
    head.set_path(name).unwrap();
    head.set_entry_type(tar::EntryType::Regular);
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
