import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { emitTyping } from "../../api/realtime";
import { meQuery } from "../../auth/session";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { toast } from "../../components/base/toast";
import { reportSaveState } from "../work-room/saveState";
import { registerDocument } from "./collaboration/database";
import { browserStore } from "./collaboration/localStore";
import type { SaveState } from "./collaboration/session";
import { colorOfId, personColors } from "./personColors";
import {
  imageUrl,
  joinDocument,
  loadContent,
  type LoadedContent,
  onCursor,
  sendCursor,
  serviceAuthority,
  uploadImage,
} from "./serviceAuthority";
import { type EditorController, type EditorServices, newId } from "./view/controller";
import { DocumentPage } from "./view/DocumentPage";

interface Props {
  documentId: string;
  name: string;
  /** Key of the document and its generation. */
  documentKey: string;
  memberIds: readonly string[];
  /** The document is only read here, even if it could be changed. */
  isView: boolean;
  /** The document is being submitted or locked: everything is sent, nothing more is typed. */
  isFreezing: boolean;
  setUnsent: (isUnsent: boolean) => void;
}

/** How often a page may load a document again because its log did not fit, before it stops. */
const MAX_RELOADS = 3;

/**
 * The content of a document, loaded once: it is not a query, because queries are refetched after every reconnect, and a new
 * content opens the document again.
 */
function useContent(documentId: string, documentKey: string) {
  const [attempt, setAttempt] = useState(0);
  const id = `${documentId} ${documentKey} ${attempt}`;
  const [loaded, setLoaded] = useState<{ id: string; content?: LoadedContent; problem?: unknown }>();
  useEffect(() => {
    let isCurrent = true;
    loadContent(documentId).then(
      (content) => isCurrent && setLoaded({ id, content }),
      (problem: unknown) => isCurrent && setLoaded({ id, problem }),
    );
    return () => void (isCurrent = false);
  }, [documentId, id]);
  const reload = useCallback(() => setAttempt((before) => before + 1), []);
  return { ...(loaded?.id === id ? loaded : { id }), reload };
}

/** A text document in the built-in editor. */
export function BuiltinEditor(props: Props) {
  const { content, problem, id, reload } = useContent(props.documentId, props.documentKey);
  const { data: me } = useQuery(meQuery);
  const reloads = useRef(0);
  if (problem !== undefined) return <ErrorMessage problem={problem} onRetry={reload} />;
  if (content === undefined || me == null) return <Skeleton count={1} />;
  return (
    <OpenContent
      key={`${id} ${props.isView}`}
      {...props}
      userId={me.id}
      content={content}
      onReload={() => {
        reloads.current += 1;
        if (reloads.current <= MAX_RELOADS) reload();
      }}
    />
  );
}

function OpenContent({
  documentId,
  name,
  memberIds,
  isView,
  isFreezing,
  setUnsent,
  userId,
  content: loaded,
  onReload,
}: Props & { userId: string; content: LoadedContent; onReload: () => void }) {
  const { t } = useTranslation();
  const [controller, setController] = useState<EditorController>();
  const [clientId] = useState(newId);
  const { generation, canEdit: isOpen } = loaded;
  const content = useMemo(() => ({ ...loaded, canEdit: loaded.canEdit && !isView }), [loaded, isView]);
  const identity = useMemo(
    () => ({ clientId, userId, documentId, generation, isOpen }),
    [clientId, userId, documentId, generation, isOpen],
  );
  const members = memberIds.join();
  const services = useMemo((): EditorServices => {
    const colors = personColors(members.split(","));
    const room = { documentId, generation, clientId };
    return {
      authorityOf: (each, page) => serviceAuthority(documentId, each, page),
      store: browserStore,
      uploadImage: (file) => uploadImage(documentId, file),
      imageUrl: (id) => imageUrl(documentId, id),
      sendCursor: (cursor) => sendCursor(room, cursor),
      onCursor: (listener) => onCursor(documentId, listener),
      onTyping: () => emitTyping(documentId),
      colorOf: (id) => colors.get(id) ?? colorOfId(id),
    };
  }, [members, documentId, generation, clientId]);
  useEffect(() => {
    if (controller === undefined) return undefined;
    const { session } = controller;
    const leave = joinDocument(
      { documentId, generation, clientId },
      () => session.announce(null),
      (isConnected) => session.setConnected(isConnected),
    );
    const forget = registerDocument(() => session.flush());
    const onOnline = () => void session.flush();
    window.addEventListener("online", onOnline);
    return () => {
      leave();
      forget();
      window.removeEventListener("online", onOnline);
    };
  }, [controller, documentId, generation, clientId]);
  useEffect(() => {
    if (controller === undefined) return;
    controller.setFrozen(isFreezing);
    if (isFreezing) void controller.session.flush();
  }, [controller, isFreezing]);
  useEffect(() => () => setUnsent(false), [setUnsent]);
  useEffect(() => {
    reportSaveState(content.canEdit ? "saved" : "view");
    return () => reportSaveState(undefined);
  }, [content.canEdit]);
  const onSaveState = (state: SaveState) => {
    if (content.canEdit && state.kind === "unsent")
      reportSaveState(state.count === 0 || state.isOffline ? "offline" : "unsent", state.count);
    else if (content.canEdit && state.kind !== "ended") reportSaveState(state.kind);
    setUnsent(state.kind === "saving" || state.kind === "unsent");
    if (state.kind !== "ended") return;
    if (state.reason !== "diverged") toast(t(`editor.ended.${state.reason}`));
    onReload();
  };
  return (
    <DocumentPage
      name={name}
      content={content}
      identity={identity}
      services={services}
      onController={setController}
      onSaveState={onSaveState}
    />
  );
}
