/** What is: the state, its revisions and its changes. */
export {}
