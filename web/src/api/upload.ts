// Uploads with progress, which `fetch` does not report.
import { Problem } from "./client";
import { checkMaintenance } from "./maintenance";
import { requestSignIn } from "../auth/sessionEnd";
import { checkSchoolChanged, pageSchoolGeneration, pageSchoolHeaders } from "../auth/pageSchool";

export interface Upload<T> {
  done: Promise<T>;
  cancel: () => void;
}

/**
 * Sends a form to `/api` + `path`; `onProgress` receives the sent share, 0 to 1. Throws a `Problem` like every other call; a
 * cancelled upload has the code CANCELLED.
 */
export function upload<T>(
  path: string,
  form: FormData,
  onProgress: (share: number) => void = () => {},
  method = "POST",
): Upload<T> {
  const request = new XMLHttpRequest();
  const sentIn = pageSchoolGeneration();
  const done = new Promise<T>((resolve, reject) => {
    request.upload.addEventListener(
      "progress",
      (event) => event.lengthComputable && onProgress(event.loaded / event.total),
    );
    request.addEventListener("load", () => {
      const body = (request.response ?? {}) as {
        code?: string;
        message?: string;
        details?: { path: string; code?: string; message: string }[];
        requestId?: string;
      };
      checkSchoolChanged(body.code, sentIn);
      checkMaintenance(request.getResponseHeader("x-maintenance"));
      const problem = () =>
        new Problem(
          request.status,
          body.code ?? "UNKNOWN",
          body.message ?? request.statusText,
          body.details ?? [],
          body.requestId,
        );
      if (request.status < 300) resolve(request.response as T);
      // The user has to send the file again, but the page stays open.
      else if (request.status === 401) void requestSignIn().then(() => reject(problem()));
      else reject(problem());
    });
    request.addEventListener("error", () => reject(new Problem(0, "OFFLINE", "The service cannot be reached")));
    request.addEventListener("abort", () => reject(new Problem(0, "CANCELLED", "Cancelled")));
  });
  request.open(method, `/api${path}`);
  for (const [name, value] of Object.entries(pageSchoolHeaders())) request.setRequestHeader(name, value);
  request.responseType = "json";
  request.send(form);
  return { done, cancel: () => request.abort() };
}
