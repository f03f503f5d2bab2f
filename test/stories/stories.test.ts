import { tellStories } from "./embedded-stories.ts";
import { stories } from "./stories.ts";

tellStories("stories on the embedded control plane", stories);
