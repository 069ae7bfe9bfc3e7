import { inVersion } from '../description/in-version.ts'
import { nodeV1 } from './node-v1.ts'

/** The types of node/v1beta1, which are those of v1. */
export const nodeV1beta1 = inVersion(nodeV1, { from: 'node/v1', to: 'node/v1beta1' })
