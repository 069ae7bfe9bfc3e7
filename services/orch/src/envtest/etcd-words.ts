/** Settings of the `etcd` of the test assets. */
export interface EtcdWords {
  /** The listening addresses: host and port. */
  readonly listen: readonly { readonly host: string; readonly port: number }[]
  readonly dataFolder: string
}

/** Flags of etcd with a value and no effect here: there is one member, and the API server stores the data. */
const accepted = `
  advertise-client-urls auto-compaction-mode auto-compaction-retention election-timeout enable-v2 experimental-initial-corrupt-check
  heartbeat-interval initial-advertise-peer-urls initial-cluster initial-cluster-state initial-cluster-token listen-metrics-urls
  listen-peer-urls log-level log-outputs logger max-request-bytes max-snapshots max-txn-ops max-wals metrics name quota-backend-bytes
  snapshot-count wal-dir`
  .trim()
  .split(/\s+/)

/** Flags with a boolean value. */
const switches = ['unsafe-no-fsync', 'enable-pprof', 'pre-vote', 'strict-reconfig-check']

/** An invalid command line; the message gives the reason. */
export class EtcdWordsError extends Error {}

/** Reads a command line as Go's flag package does: one dash or two, `-name value` or `-name=value`. The last of a repeated flag counts. */
export function readEtcdWords(words: readonly string[]): EtcdWords {
  let urls = 'http://localhost:2379'
  let dataFolder = 'default.etcd'
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    const match = /^--?([a-z0-9-]+)(?:=(.*))?$/s.exec(word)
    if (match === null) throw new EtcdWordsError(`'${word}' is not a valid flag`)
    const [, name = '', given] = match
    if (switches.includes(name)) continue
    const isKnown = name === 'listen-client-urls' || name === 'data-dir' || accepted.includes(name)
    if (!isKnown) {
      throw new EtcdWordsError(`--${name} is not supported: this etcd holds the data of one orch API server for tests; use etcd itself`)
    }
    const text = given ?? words[++index]
    if (text === undefined) throw new EtcdWordsError(`flag needs an argument: --${name}`)
    if (name === 'listen-client-urls') urls = text
    if (name === 'data-dir') dataFolder = text
  }
  return { listen: urls.split(',').map(addressOf), dataFolder }
}

function addressOf(text: string): EtcdWords['listen'][number] {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' || url.port === '') {
    throw new EtcdWordsError(
      `--listen-client-urls=${text}: must be URLs such as http://127.0.0.1:2379; TLS is not supported, use etcd itself`,
    )
  }
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) }
}

/** The path at which the etcd of the test assets answers with its data folder. */
export const dataFolderPath = '/orch/data-folder'

/** The answer at this path. */
export interface DataFolderAnswer {
  readonly dataFolder: string
}
