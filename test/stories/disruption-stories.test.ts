import { tellStories } from "./embedded-stories.ts";
import { disruptionStories } from "./stories.ts";

tellStories("stories of disruption on the embedded control plane", disruptionStories);
