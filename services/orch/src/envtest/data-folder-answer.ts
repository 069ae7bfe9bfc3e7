/** Where the etcd of the test assets says in which folder it keeps the data. */
export const dataFolderPath = '/orch/data-folder'

/** What it answers there. */
export interface DataFolderAnswer {
  readonly dataFolder: string
}
