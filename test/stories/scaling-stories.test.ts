import { tellStories } from "./embedded-stories.ts";
import { storyGroups } from "./stories.ts";

tellStories("stories of pods that come and go, and what is chosen for them", storyGroups.scaling);
