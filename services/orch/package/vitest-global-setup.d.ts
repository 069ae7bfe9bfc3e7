import type { GlobalTeardown } from './dist/testing.js'

/** Starts one server of profile `kubernetes` for a whole run; `KUBECONFIG` names its client configuration. */
export default function setup(): Promise<GlobalTeardown>
