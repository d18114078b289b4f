//! Encryption of archives in the age format, for the holders of private keys that the service never has. Other programs
//! decrypt them too: `age --decrypt --identity FILE`.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use adapters::blob_store::ReadSeek;
use age::stream::{StreamReader, StreamWriter};
use age::x25519::Recipient;
use age::{DecryptError, Decryptor, Encryptor, Identity, IdentityFile};
use anyhow::{Context as _, anyhow, bail, ensure};
use common::settings::secret::read_secret_file;

use super::folder::FetchedFile;

/// The first bytes of an encrypted file.
const MAGIC: &[u8] = b"age-encryption.org/";

/// The public keys that an archive is encrypted for; any one of their private keys decrypts it.
#[derive(Clone)]
pub struct Recipients(Vec<Recipient>);

impl Recipients {
    /// Parses public keys (`age1…`). Returns `None` without keys.
    pub fn parse(keys: &[String]) -> anyhow::Result<Option<Self>> {
        let keys = keys.iter().map(|key| key.trim()).filter(|key| !key.is_empty());
        let recipients = keys
            .map(|key| {
                key.parse()
                    .map_err(|_| anyhow!("{key:?} is no public key; it begins with age1"))
            })
            .collect::<anyhow::Result<Vec<Recipient>>>()?;
        Ok((!recipients.is_empty()).then_some(Self(recipients)))
    }

    /// Encrypts what is written to the result, which must be finished.
    pub(super) fn encrypt<W: Write>(&self, output: W) -> anyhow::Result<StreamWriter<W>> {
        let recipients = self.0.iter().map(|recipient| recipient as &dyn age::Recipient);
        Ok(Encryptor::with_recipients(recipients)?.wrap_output(output)?)
    }
}

/// The private keys of a file, as `age-keygen` writes it.
#[derive(Clone)]
pub struct Identities(Arc<Vec<Box<dyn Identity + Send + Sync>>>);

impl Identities {
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = read_secret_file(path)?;
        let parsed = IdentityFile::from_buffer(text.as_bytes()).map_err(anyhow::Error::from);
        let keys = parsed
            .and_then(|file| Ok(file.into_identities()?))
            .with_context(|| format!("{} is no file of private keys", path.display()))?;
        ensure!(!keys.is_empty(), "{} contains no private key", path.display());
        Ok(Self(Arc::new(keys)))
    }
}

/// The file of an archive, which may be encrypted.
pub struct ArchiveFile {
    file: FetchedFile,
    identities: Option<Identities>,
}

impl ArchiveFile {
    pub const fn new(file: FetchedFile, identities: Option<Identities>) -> Self {
        Self { file, identities }
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Opens the archive for reading, decrypted.
    pub(super) fn open(&self) -> anyhow::Result<Box<dyn ReadSeek>> {
        let mut file = File::open(self.path())?;
        let mut magic = [0; MAGIC.len()];
        let is_encrypted = file.read_exact(&mut magic).is_ok() && magic == MAGIC;
        file.rewind()?;
        if !is_encrypted {
            return Ok(Box::new(file));
        }
        let Some(Identities(keys)) = &self.identities else {
            bail!("it is encrypted: name the file with the private key, --identity FILE");
        };
        Ok(Box::new(decrypt(file, keys)?))
    }

    /// The size in bytes, decrypted.
    pub(super) fn size(&self) -> anyhow::Result<u64> {
        Ok(self.open()?.seek(SeekFrom::End(0))?)
    }
}

fn decrypt(file: File, keys: &[Box<dyn Identity + Send + Sync>]) -> anyhow::Result<StreamReader<File>> {
    let keys = keys.iter().map(|key| key.as_ref() as &dyn Identity);
    Decryptor::new(file)
        .and_then(|decryptor| decryptor.decrypt(keys))
        .map_err(|error| match error {
            DecryptError::NoMatchingKeys => anyhow!("it is encrypted for other keys"),
            other => other.into(),
        })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use std::os::unix::fs::PermissionsExt as _;

    use age::secrecy::ExposeSecret as _;
    use age::x25519;

    use super::*;
    use crate::folder::BackupFolder;

    fn key_file(folder: &Path, name: &str) -> (String, std::path::PathBuf) {
        let key = x25519::Identity::generate();
        let path = folder.join(name);
        std::fs::write(&path, format!("# comment\n{}\n", key.to_string().expose_secret())).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        (key.to_public().to_string(), path)
    }

    #[test]
    fn archive_is_read_with_each_of_its_keys_and_with_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let (first, first_file) = key_file(folder.path(), "first");
        let (second, second_file) = key_file(folder.path(), "second");
        let (_, other_file) = key_file(folder.path(), "other");
        let recipients = Recipients::parse(&[first, format!(" {second} ")]).unwrap().unwrap();
        let path = folder.path().join("archive");
        let content: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut writer = recipients.encrypt(File::create(&path).unwrap()).unwrap();
        writer.write_all(&content).unwrap();
        writer.finish().unwrap();

        let disk = BackupFolder::Disk(folder.path().to_owned());
        let fetched = |identities| ArchiveFile::new(disk.fetch("archive", folder.path()).unwrap(), identities);
        for file in [first_file, second_file] {
            let archive = fetched(Some(Identities::read(&file).unwrap()));
            assert_eq!(archive.size().unwrap(), content.len() as u64);
            let mut reader = archive.open().unwrap();
            reader.seek(SeekFrom::Start(400_000)).unwrap();
            let mut rest = Vec::new();
            reader.read_to_end(&mut rest).unwrap();
            assert_eq!(rest, content[400_000..]);
        }
        let open = |identities| fetched(identities).open().err().unwrap().to_string();
        assert!(open(None).contains("--identity"), "{}", open(None));
        let other = open(Some(Identities::read(&other_file).unwrap()));
        assert_eq!(other, "it is encrypted for other keys");
    }

    #[test]
    fn keys_are_checked() {
        assert!(Recipients::parse(&[]).unwrap().is_none());
        assert!(Recipients::parse(&[" ".to_owned()]).unwrap().is_none());
        let wrong = Recipients::parse(&["age1nothing".to_owned()])
            .err()
            .unwrap()
            .to_string();
        assert!(wrong.contains("age1nothing"), "{wrong}");
        let folder = tempfile::tempdir().unwrap();
        let empty = folder.path().join("empty");
        std::fs::write(&empty, "# no key\n").unwrap();
        let refused = Identities::read(&empty).err().unwrap().to_string();
        assert!(refused.contains("empty"), "{refused}");
        assert!(Identities::read(&folder.path().join("missing")).is_err());
    }
}
