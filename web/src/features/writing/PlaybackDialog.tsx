import { EditorState } from "prosemirror-state";
import { Decoration, DecorationSet, EditorView } from "prosemirror-view";
import { Pause, Play, SkipBack, SkipForward } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { Button } from "../../components/Button";
import { Avatar } from "../../components/base/Avatar";
import { EmptyState } from "../../components/base/EmptyState";
import { personColor, personColors } from "../../components/base/people";
import { Skeleton } from "../../components/base/Skeleton";
import { Dialog } from "../../components/Dialog";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Select } from "../../forms/Select";
import { translateIfKnown } from "../../i18n";
import { useTime } from "../../i18n/time";
import { nodeViews } from "../editor/document/nodeViews";
import { schema } from "../editor/document/schema";
import { imageUrl } from "../editor/serviceAuthority";
import { delayUntil, type Frame, PlaybackLog } from "./playback";
import "../editor/view/editor.css";

const SPEEDS = [1, 4, 16, 64] as const;
/** The time between two frames for users who prefer reduced motion. */
const CALM_MS = 1_000;
/** Frames that are loaded ahead while playing. */
const AHEAD = 100;

interface Props {
  documentId: string;
  title: string;
  onClose: () => void;
}

/** How a document was written: its changes over time, played back. */
export function PlaybackDialog({ documentId, title, onClose }: Props) {
  const { t } = useTranslation();
  return (
    <Dialog title={t("writing.playbackTitle", { title })} isOpen onOpenChange={(isOpen) => isOpen || onClose()} isWide>
      {() => <Player documentId={documentId} title={title} />}
    </Dialog>
  );
}

const isCalm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

function Player({ documentId, title }: { documentId: string; title: string }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  const log = useMemo(
    () =>
      new PlaybackLog((range) =>
        unwrap(
          client.POST("/workrooms/documents/{id}/playback", {
            params: { path: { id: documentId } },
            body: { ...range, limit: 500 },
          }),
        ),
      ),
    [documentId],
  );
  const [wanted, setWanted] = useState(0);
  // A new object repeats a load that failed.
  const [attempt, setAttempt] = useState({ log });
  const [shown, setShown] = useState<{ index: number; frame: Frame } | "loading" | "empty">("loading");
  const [problem, setProblem] = useState<unknown>();
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<number>(4);
  useEffect(() => {
    let isCurrent = true;
    const { log: source } = attempt;
    const show = async () => {
      if (wanted >= source.loaded) await source.loadUntil(wanted);
      if (!isCurrent) return;
      setProblem(undefined);
      const index = Math.min(wanted, source.loaded - 1);
      setShown(index < 0 ? "empty" : { index, frame: source.frame(index) });
    };
    show().catch((error: unknown) => {
      if (!isCurrent) return;
      setPlaying(false);
      setProblem(error);
    });
    return () => void (isCurrent = false);
  }, [wanted, attempt]);
  const last = Math.max(0, log.length - 1);
  useEffect(() => {
    if (!isPlaying || typeof shown === "string" || shown.index !== wanted) return;
    const next = shown.index + 1;
    if (next > last) return;
    // A page that is loaded ahead; a failure is shown when the frame is reached.
    if (next + AHEAD >= log.loaded && log.loaded <= last) log.loadUntil(log.loaded).catch(() => undefined);
    const isLoaded = next < log.loaded;
    const delay = isCalm() ? CALM_MS : isLoaded ? delayUntil(shown.frame.at, log.frame(next).at, speed) : 0;
    const timer = setTimeout(() => {
      setWanted(next);
      if (next >= last) setPlaying(false);
    }, delay);
    return () => clearTimeout(timer);
  }, [isPlaying, shown, wanted, last, log, speed]);
  if (typeof shown === "string") {
    if (problem !== undefined) return <ErrorMessage problem={problem} onRetry={() => setAttempt({ log })} />;
    return shown === "empty" ? <EmptyState>{t("writing.nothing")}</EmptyState> : <Skeleton count={3} />;
  }
  const at = shown.index;
  const go = (index: number) => {
    setPlaying(false);
    setWanted(Math.min(Math.max(index, 0), last));
  };
  const { frame } = shown;
  const colors = personColors(log.authors());
  const author = frame.userId;
  const name = author === null ? undefined : (log.nameOf(author) ?? t("writing.unknown"));
  const color = author === null ? 0 : (colors.get(author) ?? personColor(author));
  const state = frame.isBeginning
    ? t("writing.begins", { when: moment(frame.at) })
    : t("writing.changed", { name: name ?? t("writing.unknown"), when: moment(frame.at) });
  return (
    <>
      {problem === undefined ? null : <ErrorMessage problem={problem} onRetry={() => setAttempt({ log })} />}
      <PlayedDocument documentId={documentId} title={title} frame={frame} color={color} />
      <p className="flex min-h-8 items-center gap-2" data-testid="playback-state">
        {name === undefined ? null : <Avatar name={name} color={color} />}
        <span>{state}</span>
      </p>
      <input
        type="range"
        min={0}
        max={last}
        value={at}
        aria-label={t("writing.position")}
        aria-valuetext={state}
        onChange={(event) => go(Number(event.target.value))}
        className="min-h-11 w-full"
      />
      <div className="flex flex-wrap items-end gap-2">
        <Button aria-label={t("writing.back")} onPress={() => go(at - 1)} isDisabled={at === 0}>
          <SkipBack aria-hidden="true" className="size-5 rtl:-scale-x-100" />
        </Button>
        <Button
          kind="main"
          onPress={() => {
            if (!isPlaying && at >= last) setWanted(0);
            setPlaying(!isPlaying);
          }}
        >
          {isPlaying ? <Pause aria-hidden="true" className="size-5" /> : <Play aria-hidden="true" className="size-5" />}
          {t(isPlaying ? "writing.pause" : "writing.play")}
        </Button>
        <Button aria-label={t("writing.forward")} onPress={() => go(at + 1)} isDisabled={at >= last}>
          <SkipForward aria-hidden="true" className="size-5 rtl:-scale-x-100" />
        </Button>
        <Select
          label={t("writing.speed")}
          options={SPEEDS.map((value) => ({ id: String(value), name: t("writing.times", { value }) }))}
          value={String(speed)}
          onChange={(value) => setSpeed(Number(value))}
        />
        <span className="text-soft ms-auto self-center tabular-nums">
          {t("writing.step", { at: at + 1, count: last + 1 })}
        </span>
      </div>
      <p className="text-soft text-sm">{t("writing.logged")}</p>
    </>
  );
}

/** The document of a frame. What the frame inserted is marked in the colour of its author. */
function PlayedDocument({
  documentId,
  title,
  frame,
  color,
}: {
  documentId: string;
  title: string;
  frame: Frame;
  color: number;
}) {
  const { t } = useTranslation();
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const marked = useRef<DecorationSet>(DecorationSet.empty);
  const [texts] = useState(() => ({
    checkbox: t("editor.checkbox"),
    missingImage: t("editor.imageMissing"),
    noAlt: t("editor.imageNoAlt"),
    footnote: (text: string) => t("editor.footnoteLabel", { text }),
    pageBreak: t("editor.pageBreak"),
    island: (kind: string) => translateIfKnown(`editor.islands.${kind}`) ?? t("editor.islands.other"),
    islandHint: t("editor.islandHint"),
  }));
  useEffect(() => {
    if (place.current === null) return;
    const created = new EditorView(place.current, {
      state: EditorState.create({ schema }),
      editable: () => false,
      nodeViews: nodeViews({ imageUrl: (id) => imageUrl(documentId, id), text: texts, onEdit: () => undefined }),
      decorations: () => marked.current,
      attributes: { class: "document", role: "document", "aria-label": title },
    });
    view.current = created;
    return () => {
      view.current = undefined;
      created.destroy();
    };
  }, [documentId, title, texts]);
  useEffect(() => {
    const marks = frame.inserted.map(({ from, to }) =>
      Decoration.inline(from, to, { class: `authored authored-line authored-solid person-${color}` }),
    );
    marked.current = DecorationSet.create(frame.doc, marks);
    view.current?.updateState(EditorState.create({ doc: frame.doc }));
  }, [frame, color]);
  return (
    <section
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls by itself, so it must be focusable
      tabIndex={0}
      aria-label={t("writing.text")}
      className="editor border-faint max-h-[50vh] overflow-y-auto rounded-lg border outline-none focus-visible:outline-3"
    >
      <div ref={place} className="paper" />
    </section>
  );
}
