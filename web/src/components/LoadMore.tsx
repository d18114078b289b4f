import { useTranslation } from "react-i18next";

import { Button } from "./Button";

interface Props {
  pages: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> };
  /** Another text than "Load more". */
  label?: string;
  className?: string;
}

/** Loads the next page of a list; nothing after the last one. */
export function LoadMore({ pages, label, className = "" }: Props) {
  const { t } = useTranslation();
  return pages.hasNextPage ? (
    <Button className={className} isPending={pages.isFetchingNextPage} onPress={() => void pages.fetchNextPage()}>
      {label ?? t("app.loadMore")}
    </Button>
  ) : null;
}
