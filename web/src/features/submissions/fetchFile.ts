// Downloads of files that take time to generate. Errors are shown instead of being saved under the name of the file.
import { Problem, parseProblem } from "../../api/client";
import { pageSchoolHeaders } from "../../auth/pageSchool";
import { Archive } from "./archiveProgress";
import { addDownload, updateDownload, dismissDownload } from "./downloadQueue";

let count = 0;

/** Fetches an archive or a generated file, and saves it when it is complete. */
export function fetchFile(url: string, name: string): void {
  count += 1;
  const id = count;
  let stop = new AbortController();
  const run = () => {
    stop = new AbortController();
    void fetchOne(id, url, name, stop.signal);
  };
  addDownload({
    id,
    name,
    state: "running",
    progress: { bytes: 0 },
    missing: [],
    again: run,
    stop: () => stop.abort(),
  });
  run();
}

async function fetchOne(id: number, url: string, name: string, signal: AbortSignal): Promise<void> {
  updateDownload(id, { state: "running", progress: { bytes: 0 }, problem: undefined });
  try {
    const answer = await fetch(url, { credentials: "same-origin", signal, headers: pageSchoolHeaders() });
    if (!answer.ok || answer.body === null) throw await parseProblem(answer);
    const archive = new Archive((progress) => updateDownload(id, { progress }));
    const whole = await new Response(answer.body.pipeThrough(archive.stream)).blob();
    const typed = whole.slice(0, whole.size, answer.headers.get("content-type") ?? "");
    const missingFiles = await archive.missing(typed);
    if (signal.aborted) return;
    const href = URL.createObjectURL(typed);
    updateDownload(id, { state: "ready", href, missing: missingFiles });
    saveFromUrl(href, name);
    // A single file is saved at this point; an archive stays in the list for its report.
    if (!archive.isArchive) setTimeout(() => dismissDownload(id), 10_000);
  } catch (problem) {
    if (!signal.aborted)
      updateDownload(id, {
        state: "failed",
        problem: problem instanceof Problem ? problem : new Problem(0, "OFFLINE", "The file broke off"),
      });
  }
}

function saveFromUrl(href: string, name: string): void {
  const link = document.createElement("a");
  link.href = href;
  link.download = name;
  link.click();
}
