import { tellStories } from "./embedded-stories.ts";
import { storyGroups } from "./stories.ts";

tellStories("stories of machines that are launched and join", storyGroups.launching);
