/**
 * Preloaded into the process of a journey: instruments the compiled code of the packages when it is loaded, and records the files whose functions are
 * entered while a request is served. Other work (controllers, other requests) is not recorded.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { registerHooks } from 'node:module'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from '../root.mjs'
import { instrument } from './instrument.mjs'

const files = []
const requests = new AsyncLocalStorage()
let record

globalThis.enteredFile = (index) => {
  if (record !== undefined && requests.getStore() === record) record.push(files[index])
}

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : ''
    if (!/^(services|shared)\/[^/]+\/dist\/.*\.js$/.test(file)) return loaded
    files.push(file.replace('/dist/', '/src/').replace(/\.js$/, '.ts'))
    return { ...loaded, source: instrument(String(loaded.source), `enteredFile(${files.length - 1})`) }
  },
})

const { emit } = EventEmitter.prototype
EventEmitter.prototype.emit = function emitWithin(event, ...args) {
  const isRequest = record !== undefined && (event === 'stream' || event === 'request')
  return isRequest ? requests.run(record, () => emit.call(this, event, ...args)) : emit.call(this, event, ...args)
}

/** The files whose functions were entered to serve the requests of `send`, in order, without repetitions in a row. */
globalThis.recordJourney = async (send) => {
  record = []
  await send()
  // Work after an answer (metrics, audit) runs in the same turn or the next.
  await new Promise((resolve) => setImmediate(resolve))
  const visits = record.filter((file, index, all) => file !== all[index - 1])
  record = undefined
  return visits
}
