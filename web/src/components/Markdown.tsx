import { lazy, Suspense } from "react";

// Without its code, a text is shown as it was typed.
const ReactMarkdown = lazy(() => import("react-markdown").catch(() => ({ default: PlainText })));

// Headings inside a text are below the level of the screen's own; links open in a new tab.
const ELEMENTS = {
  h1: "h3",
  h2: "h4",
  h3: "h5",
  h4: "h6",
  h5: "h6",
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
  // Images are not loaded, because a text must not cause requests to other origins.
  img: ({ alt }: { alt?: string | undefined }) => <span>{alt}</span>,
  pre: ({ children }: { children?: React.ReactNode }) => (
    <pre className="bg-faint overflow-x-auto rounded-lg p-2">{children}</pre>
  ),
  blockquote: ({ children }: { children?: React.ReactNode }) => (
    <blockquote className="border-line border-s-4 ps-3">{children}</blockquote>
  ),
} as const;

/** Renders markdown. Raw HTML is shown as text. */
export function Markdown({ children }: { children: string }) {
  return (
    <div className="flex flex-col gap-2 break-words [&_h3]:text-lg [&_h3]:font-semibold [&_h4]:font-semibold [&_h5]:font-semibold">
      <Suspense fallback={<PlainText>{children}</PlainText>}>
        <ReactMarkdown components={ELEMENTS}>{children}</ReactMarkdown>
      </Suspense>
    </div>
  );
}

function PlainText({ children }: { children?: string | null | undefined }) {
  return <p className="whitespace-pre-wrap">{children}</p>;
}
