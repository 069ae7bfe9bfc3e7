import { type StorageService, storageContract } from '../../shared/core/src/contracts/index.ts'
import { failed } from '../../shared/core/src/meta/index.ts'
import { silentLog } from '../../shared/platform/src/index.ts'
import { openRpcServer, serveContract } from '../../shared/platform/src/rpc/index.ts'

// A storage that answers with its process id or, if `silent`, only tells its parent that a question arrived.
const [address = '127.0.0.1:0', manner] = process.argv.slice(2)

const refuse = () => {
  throw failed(501, '', 'not in this test')
}
const asked = <T>(method: string, answer: T): Promise<T> => {
  process.send?.({ asked: method })
  return manner === 'silent' ? new Promise(() => {}) : Promise.resolve(answer)
}
const service: StorageService = {
  get: () => asked('get', { revision: process.pid, epoch: '' }),
  commit: () => asked('commit', { kind: 'written', revision: process.pid }),
  getAt: () => asked('getAt', {}),
  list: refuse,
  changes: refuse,
  history: refuse,
  revisionAt: refuse,
  status: refuse,
}
const server = await openRpcServer({ address, offers: [serveContract(storageContract, service)], log: silentLog })
process.send?.({ address: server.address })
process.on('disconnect', () => process.exit(0))
