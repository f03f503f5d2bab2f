import { tellStories } from "./embedded-stories.ts";
import { storyGroups } from "./stories.ts";

tellStories("stories of pools, static ones, overlays and buffers", storyGroups.pools);
