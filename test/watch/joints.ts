import {
  type Contract,
  type Methods,
  type Service,
  type StorageService,
  storageContract,
  type WatchService,
  watchContract,
} from '@orch/core/contracts'
import { directLink, silentLog } from '@orch/platform'
import { dialContract, openRpcServer, serveContract } from '../../shared/platform/src/rpc/index.ts'

/** The connections between the services of a scenario. */
export interface Joints {
  readonly storage: StorageService
  readonly watch: WatchService
  /** Cuts every connection to watch; new connections succeed afterwards. */
  cutWatch(): Promise<void>
  close(): void
}

/** Function calls that record their messages; at the end the test checks that no byte has changed. */
export function joinDirectly(storage: StorageService, watch: WatchService): Joints {
  const links = [directLink(storageContract, storage, { freeze: true }), directLink(watchContract, watch, { freeze: true })] as const
  return {
    storage: links[0].service,
    watch: links[1].service,
    cutWatch: async () => {},
    close() {
      for (const link of links) link.verify()
    },
  }
}

/** Real connections, which can break. */
export async function joinByRpc(storage: StorageService, watch: WatchService): Promise<Joints> {
  const joints = [await joinOne(storageContract, storage), await joinOne(watchContract, watch)] as const
  return {
    storage: joints[0].service,
    watch: joints[1].service,
    cutWatch: joints[1].cut,
    close() {
      for (const joint of joints) joint.close()
    },
  }
}

async function joinOne<M extends Methods>(contract: Contract<M>, service: Service<Contract<M>>) {
  const offers = [serveContract(contract, service)]
  let server = await openRpcServer({ address: '127.0.0.1:0', offers, log: silentLog })
  const dialled = dialContract(contract, { addresses: [server.address], random: Math.random, log: silentLog })
  return {
    service: dialled.service,
    async cut() {
      server.close()
      server = await openRpcServer({ address: server.address, offers, log: silentLog })
    },
    close() {
      dialled.close()
      server.close()
    },
  }
}
