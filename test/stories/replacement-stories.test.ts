import { tellStories } from "./embedded-stories.ts";
import { storyGroups } from "./stories.ts";

tellStories("stories of nodes that are replaced", storyGroups.replacing);
