/** Who asks and in which words: the HTTP entry point. */
export {}
