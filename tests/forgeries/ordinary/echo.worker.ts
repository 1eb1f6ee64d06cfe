self.onmessage = (event: MessageEvent) => { postMessage(event.data * 2); };
