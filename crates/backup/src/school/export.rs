//! Writes the archive of a school while the service runs, from one snapshot.

use std::io::{BufWriter, Write};

use anyhow::Context as _;
use common::clock;
use common::failpoint::hit;
use db::Store;
use db::archives::format::{ChunkEncoder, RowHeader};
use db::dump::school::{LEFT_OUT, ORGANIZATION, ORGANIZATION_COLUMNS, PEOPLE, PEOPLE_COLUMNS, SchoolRow};
use db::dump::{Cell, ColumnType, DumpTable, Snapshot};

use super::format::{HEADER, SchoolHeader, SchoolManifest, chunk_name};
use crate::format::{FILE_LIST, HashingStream, MANIFEST, checksum_entry};
use crate::write::{
    ArchiveOutput, DeletionLease, GzipEntry, Out, WriteOptions, entry, with_output, write_file_entry, write_files,
};
use crate::{CHUNK_BYTES, Installation, Progress, ProgressCallback};

/// The result of an export.
#[derive(Debug, Clone)]
pub struct ExportSummary {
    pub header: SchoolHeader,
    pub manifest: SchoolManifest,
    /// The size of the archive in bytes, before encryption.
    pub size: u64,
}

/// Writes the archive of the school with a short name. `address` is that of the installation. An output that fails may contain an incomplete archive.
pub fn export(
    installation: &Installation,
    slug: &str,
    address: Option<String>,
    output: &mut dyn ArchiveOutput,
    options: &WriteOptions<'_>,
    report_progress: ProgressCallback<'_>,
) -> anyhow::Result<ExportSummary> {
    let store = Store::open(&installation.database, 1, 1)?;
    let mut lease = DeletionLease::acquire(installation, store)?;
    let outcome = with_output(output, options.recipients, |output| {
        let mut snapshot = Snapshot::take(&installation.database)?;
        let school = snapshot.school(slug)?;
        let school = school.with_context(|| format!("there is no school with the short name {slug}"))?;
        write_archive(
            installation,
            snapshot,
            (&school, address),
            output,
            options,
            &mut lease,
            report_progress,
        )
    });
    lease.release();
    outcome
}

fn write_archive(
    installation: &Installation,
    mut snapshot: Snapshot,
    (school, address): (&SchoolRow, Option<String>),
    output: &mut dyn Write,
    options: &WriteOptions<'_>,
    lease: &mut DeletionLease,
    report_progress: ProgressCallback<'_>,
) -> anyhow::Result<ExportSummary> {
    let header = SchoolHeader::new(school, snapshot.version(), clock::now().to_string(), address);
    let mut writer = SchoolWriter {
        out: HashingStream::new(BufWriter::with_capacity(CHUNK_BYTES, output)),
        encoder: ChunkEncoder::default(),
        manifest: SchoolManifest::default(),
    };
    let text = serde_json::to_vec_pretty(&header)?;
    entry(&mut writer.out, HEADER, text.len() as u64, &mut text.as_slice())?;
    writer.rows(&mut snapshot, &school.id, lease, report_progress)?;
    let scratch = options.scratch.join(format!("{}.rows", lease.name));
    let mut gzip = GzipEntry::new(&scratch)?;
    snapshot.school_files(&school.id, |file| write_file_entry(file, &mut gzip))?;
    // A long snapshot prevents the database from reclaiming space.
    drop(snapshot);
    let (named, (list, part)) = gzip.append(&mut writer.out, FILE_LIST)?;
    writer.manifest.archived.files_named = named;
    writer.manifest.archived.list = part;
    let archived = &mut writer.manifest.archived;
    write_files(&mut writer.out, installation, list, archived, lease, report_progress)?;
    let SchoolWriter { mut out, manifest, .. } = writer;
    let text = serde_json::to_vec_pretty(&manifest)?;
    entry(&mut out, MANIFEST, text.len() as u64, &mut text.as_slice())?;
    let checksum_entry = checksum_entry(&out.digest())?;
    out.write_all(&checksum_entry)?;
    out.flush()?;
    Ok(ExportSummary {
        header,
        manifest,
        size: out.size,
    })
}

/// An archive that is being written.
struct SchoolWriter<'w> {
    out: Out<'w>,
    encoder: ChunkEncoder,
    manifest: SchoolManifest,
}

impl SchoolWriter<'_> {
    fn rows(
        &mut self,
        snapshot: &mut Snapshot,
        organization: &str,
        lease: &mut DeletionLease,
        report_progress: ProgressCallback<'_>,
    ) -> anyhow::Result<()> {
        let header = row_header(ORGANIZATION, ORGANIZATION_COLUMNS);
        snapshot.school_organization(organization, |row| self.row(&header, row))?;
        let people = snapshot.school_people_ids(organization)?;
        let header = row_header(PEOPLE, PEOPLE_COLUMNS);
        snapshot.school_people(organization, &people, |row| self.row(&header, row))?;
        let tables = snapshot.school_tables();
        for (index, table) in tables.iter().enumerate() {
            report_progress(Progress {
                what: format!("rows of {}", table.name),
                done: index as u64,
                of: Some(tables.len() as u64),
                bytes: self.out.size,
            });
            hit("backup.rows");
            let header = header_of(table);
            snapshot.school_rows(organization, table, |row| {
                self.row(&header, row)?;
                lease.renew()
            })?;
        }
        if self.encoder.has_rows() {
            self.chunk()?;
        }
        self.manifest.tables.clone_from(&self.encoder.tables);
        self.manifest.chunks = self.encoder.chunks;
        self.manifest.sha256 = self.encoder.sha256();
        let left_out = LEFT_OUT.iter();
        self.manifest.left_out = left_out
            .map(|(table, why)| ((*table).to_owned(), (*why).to_owned()))
            .collect();
        Ok(())
    }

    fn row(&mut self, header: &RowHeader, row: &[Cell]) -> common::error::Result<()> {
        if self.encoder.push(header, row)? {
            self.chunk()?;
        }
        Ok(())
    }

    fn chunk(&mut self) -> common::error::Result<()> {
        let (number, content) = self.encoder.take_chunk()?;
        let size = content.len() as u64;
        Ok(entry(
            &mut self.out,
            &chunk_name(number),
            size,
            &mut content.as_bytes(),
        )?)
    }
}

fn row_header(table: &str, columns: &[(&str, ColumnType)]) -> RowHeader {
    RowHeader {
        table: table.to_owned(),
        columns: columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect(),
    }
}

fn header_of(table: &DumpTable) -> RowHeader {
    let columns = table.columns.iter();
    RowHeader {
        table: table.name.clone(),
        columns: columns.map(|column| (column.name.clone(), column.kind)).collect(),
    }
}
