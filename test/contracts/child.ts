import { serveToParent } from '../../shared/testkit/src/contract-link.ts'
import { contracts, openServices } from './services.ts'

serveToParent({ contracts, open: openServices })
