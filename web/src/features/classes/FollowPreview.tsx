import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

interface Props {
  classId: string;
  homeroomId: string;
}

/** Who would join and leave a class that starts to follow a homeroom. */
export function FollowPreview({ classId, homeroomId }: Props) {
  const { t } = useTranslation();
  const preview = useQuery({
    queryKey: queryKeys.classes.following(classId, homeroomId),
    queryFn: () =>
      unwrap(
        client.POST("/classes/{id}/following", {
          params: { path: { id: classId }, query: { dryRun: "1" } },
          body: { followsHomeroom: true, homeroomId },
        }),
      ),
    staleTime: 0,
  }).data;
  if (!preview) return null;
  return (
    <output className="block text-sm">
      {t("classes.wouldJoin", { count: preview.joined.length })}{" "}
      {preview.left.length === 0
        ? null
        : t("classes.wouldLeave", {
            count: preview.left.length,
            names: preview.left.map((one) => one.student.name).join(", "),
          })}
    </output>
  );
}
