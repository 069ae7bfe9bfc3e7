import { type Answer, type Api, type Body, created, until, untilEverywhere } from '../api/api.ts'
import { flavors, flavorsPath, type RemoteServer } from './remote-server.ts'

/** The path of APIServices under the names of these tests. */
export const apiServices = '/apis/apiregistration.orch.io/v1/apiservices'

/** An APIService of a group version; its Service is `api` in `team`. */
export function anApiService(
  server: Pick<RemoteServer, 'caBundle'>,
  spec: object = {},
  place: { readonly group: string; readonly version: string } = flavors,
): Record<string, unknown> {
  return {
    apiVersion: 'apiregistration.orch.io/v1',
    kind: 'APIService',
    metadata: { name: `${place.version}.${place.group}` },
    spec: {
      ...place,
      groupPriorityMinimum: 1000,
      versionPriority: 15,
      service: { namespace: 'team', name: 'api' },
      caBundle: server.caBundle,
      ...spec,
    },
  }
}

/** The flag that tells the server the Service's address. */
export function serviceAt({ address }: Pick<RemoteServer, 'address'>): string {
  return `--webhook-service-map=team/api=${address}`
}

/** Registers a group version. Waits until the server has set the condition and every gateway forwards requests. */
export async function registered(api: Api, object: Record<string, unknown>): Promise<Body> {
  const { metadata } = await created(api, apiServices, object)
  const condition = await conditionOf(api, metadata.name, ({ status }) => status === 'True')
  const isPassed = ({ status, text }: Answer) => status !== 404 && text !== 'service unavailable\n'
  await untilEverywhere(() => api.get(flavorsPath), isPassed)
  return condition
}

/** Waits until the condition Available has the wanted status; returns the condition. */
export async function conditionOf(api: Api, name: string, isWanted: (condition: Body) => boolean): Promise<Body> {
  let found: Body | undefined
  await until(
    () => api.get(`${apiServices}/${name}`),
    ({ body }) => {
      const { conditions = [] } = (body['status'] ?? {}) as { conditions?: Body[] }
      found = conditions.find((one) => one['type'] === 'Available')
      return found !== undefined && isWanted(found)
    },
  )
  return found as Body
}
