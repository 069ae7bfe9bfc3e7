/** Ordinary clients that keep objects as they are meant to be. */
export {}
