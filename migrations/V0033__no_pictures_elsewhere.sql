-- Pictures of people were addresses anywhere on the web, whose owners learned who looked and when. The service has no upload
-- for pictures, so there is none that may stay.
UPDATE users SET image = NULL WHERE image IS NOT NULL;
