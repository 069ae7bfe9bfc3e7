/** The path at which the etcd of the test assets answers with its data folder. */
export const dataFolderPath = '/orch/data-folder'

/** The answer at this path. */
export interface DataFolderAnswer {
  readonly dataFolder: string
}
