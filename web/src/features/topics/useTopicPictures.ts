// Pictures in the texts of a topic: they are among its files.
import { useQueryClient } from "@tanstack/react-query";

import { picturesOf } from "../../components/Markdown";
import type { TextPictures } from "../../forms/MarkdownField";
import { pictureName } from "../../forms/markdownEdits";
import { upload } from "../../api/upload";
import { refreshTopics, type TopicAttachment } from "./topic";
import type { Topic } from "./topicForm";

/** The pictures of the shared text (null), or of the text of a group. New ones become files of the topic, or of the group. */
export function useTopicPictures(topic: Topic): (groupId: string | null) => TextPictures {
  const cache = useQueryClient();
  return (groupId) => {
    const link = topic.groupAssignments.find((own) => own.groupId === groupId)?.id ?? null;
    const files = topic.attachments.filter(
      ({ groupAssignmentId }) => groupAssignmentId === null || groupAssignmentId === link,
    );
    return {
      urls: picturesOf(files),
      add: async (file) => {
        const form = new FormData();
        // The service reads the parts in order.
        if (link !== null) form.append("groupAssignmentId", link);
        const taken = topic.attachments.map((known) => known.fileName);
        form.append("file", new File([file], pictureName(file.name, taken), { type: file.type }));
        const { fileName } = await upload<TopicAttachment>(`/assignments/${topic.id}/attachments`, form).done;
        await refreshTopics(cache);
        return fileName;
      },
    };
  };
}
