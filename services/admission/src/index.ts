/** What is allowed to be: the admission plugins. */
export {}
