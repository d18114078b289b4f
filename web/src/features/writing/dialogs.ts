// The dialogs about how a document was written, loaded when they are opened.
import { lazyPart } from "../../components/lazyPart";
import { loadTexts } from "../../i18n";

export const AuthorshipDialog = lazyPart(async () => (await import("./AuthorshipDialog")).AuthorshipDialog);

export const PlaybackDialog = lazyPart(async () => {
  const [{ PlaybackDialog: dialog }] = await Promise.all([import("./PlaybackDialog"), loadTexts("editor")]);
  return dialog;
});
