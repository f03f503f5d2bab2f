import { tellStories } from "./embedded-stories.ts";
import { storyGroups } from "./stories.ts";

tellStories("stories of refusals, leaders, restarts and AWS", storyGroups.controllers);
