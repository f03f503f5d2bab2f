import { tellStories } from "./embedded-stories.ts";
import { storyGroups } from "./stories.ts";

tellStories("stories of nodes that leave, are drained and had volumes", storyGroups.leaving);
