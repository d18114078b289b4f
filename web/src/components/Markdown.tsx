import { lazy, Suspense } from "react";

import { safeAddress } from "./markdownAddress";
import { pictureFile } from "./pictureFile";

// Without its code, a text is shown as it was typed.
const ReactMarkdown = lazy(() => import("react-markdown").catch(() => ({ default: PlainText })));

/** Links open in a new tab. */
const ELEMENTS = {
  ul: ({ children }: { children?: React.ReactNode }) => <ul className="list-disc ps-6">{children}</ul>,
  ol: ({ children, start }: { children?: React.ReactNode; start?: number | undefined }) => (
    <ol start={start} className="list-decimal ps-6">
      {children}
    </ol>
  ),
  a: ({ children, href }: { children?: React.ReactNode; href?: string | undefined }) => (
    <a href={href} target="_blank" rel="noopener noreferrer" className="underline">
      {children}
    </a>
  ),
  pre: ({ children }: { children?: React.ReactNode }) => (
    <pre className="bg-faint overflow-x-auto rounded-lg p-2">{children}</pre>
  ),
  blockquote: ({ children }: { children?: React.ReactNode }) => (
    <blockquote className="border-line border-s-4 ps-3">{children}</blockquote>
  ),
} as const;

/** Headings inside a text are below the level of the screen's own, and no level is skipped. */
function headings(text: string) {
  const used = [...new Set([...text.matchAll(/^ {0,3}(#{1,6})\s/gm)].map(([, marks = ""]) => marks.length))].toSorted();
  return Object.fromEntries(used.map((level, rank) => [`h${level}`, `h${Math.min(3 + rank, 6)}`]));
}

interface Props {
  children: string;
  /** The addresses of pictures by file name. */
  pictures?: Readonly<Record<string, string>>;
}

/** Renders Markdown. Raw HTML is shown as text. */
export function Markdown({ children, pictures = {} }: Props) {
  // Only files of the topic are loaded, because a text must not cause requests to other origins.
  const img = ({ alt, src }: { alt?: string | undefined; src?: unknown }) => {
    const url = pictures[pictureFile(typeof src === "string" ? src : undefined) ?? ""];
    return url === undefined ? (
      <span>{alt}</span>
    ) : (
      <img src={url} alt={alt ?? ""} loading="lazy" className="h-auto max-w-full rounded-lg" />
    );
  };
  return (
    <div className="flex flex-col gap-2 break-words [&_h3]:text-lg [&_h3]:font-semibold [&_h4]:font-semibold [&_h5]:font-semibold">
      <Suspense fallback={<PlainText>{children}</PlainText>}>
        <ReactMarkdown components={{ ...ELEMENTS, ...headings(children), img }} urlTransform={safeAddress}>
          {children}
        </ReactMarkdown>
      </Suspense>
    </div>
  );
}

function PlainText({ children }: { children?: string | null | undefined }) {
  return <p className="whitespace-pre-wrap">{children}</p>;
}

/** The pictures among files, for texts that show them. */
export const picturesOf = (
  files: readonly { fileName: string; url: string; mimeType?: string }[],
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    files.filter((file) => /\.(png|jpe?g|gif|webp)$/i.test(file.fileName)).map((file) => [file.fileName, file.url]),
  );
