// The texts of the editor page. Languages other than these fall back to English.

const words = {
  en: {
    practice: 'Practice editor: a stand-in for ONLYOFFICE, plain text only.',
    text: 'Text of the document, one paragraph per line',
    save: 'Save now',
    close: 'Close',
    opening: 'Opening the document …',
    reading: 'Read only',
    kept: 'All changes are with the document server',
    sending: 'Sending changes …',
    saving: 'Saving …',
    nothing: 'Nothing new to save',
    lost: 'No connection. Trying again …',
    stopped: 'The connection to the document server was given up.',
    outdated: 'This version was saved and closed. Reload the page to go on.',
    gone: 'The session has ended. Reload the page to go on.',
    forgotten: 'Opened from a copy whose saving failed.',
    alone: 'Only you are here',
    here: 'Here now: ',
  },
  de: {
    practice: 'Übungseditor: steht für ONLYOFFICE, nur einfacher Text.',
    text: 'Text des Dokuments, ein Absatz je Zeile',
    save: 'Jetzt sichern',
    close: 'Schließen',
    opening: 'Das Dokument wird geöffnet …',
    reading: 'Nur lesen',
    kept: 'Alle Änderungen sind beim Dokumentenserver',
    sending: 'Änderungen werden gesendet …',
    saving: 'Wird gesichert …',
    nothing: 'Nichts Neues zu sichern',
    lost: 'Keine Verbindung. Neuer Versuch …',
    stopped: 'Die Verbindung zum Dokumentenserver wurde aufgegeben.',
    outdated: 'Diese Fassung wurde gesichert und geschlossen. Lade die Seite neu, um weiterzuarbeiten.',
    gone: 'Die Sitzung ist zu Ende. Lade die Seite neu, um weiterzuarbeiten.',
    forgotten: 'Geöffnet aus einer Kopie, deren Sicherung fehlschlug.',
    alone: 'Nur du bist hier',
    here: 'Gerade hier: ',
  },
};

export function wordsFor(language) {
  const short = String(language || 'en').slice(0, 2).toLowerCase();
  return short in words ? { language: short, ...words[short] } : { language: 'en', ...words.en };
}
