<?php
// SPDX-License-Identifier: Apache-2.0
// The comments in Laravel's router, to be called by public/index.php behind its autoloader. COMMENTS, by SetEnv, names the file.
declare(strict_types=1);

use Illuminate\Container\Container;
use Illuminate\Events\Dispatcher;
use Illuminate\Http\RedirectResponse;
use Illuminate\Http\Request;
use Illuminate\Http\Response;
use Illuminate\Routing\Router;
use ModVault\Vault;

require_once __DIR__ . '/../Vault.php';
require_once __DIR__ . '/Comments.php';

$request = Request::capture();
$vault = new Vault($request->server());
$comments = new Comments($vault, $request->server('COMMENTS'));

$container = new Container();
$container->instance(Request::class, $request);
$router = new Router(new Dispatcher(), $container);
$router->get('/', fn() => (new Response($comments->page()))->withHeaders($vault->headers()));
$router->get('/news', fn() => (new Response($comments->news()))->withHeaders($vault->headers()));
$router->get('/count', fn() => (new Response($comments->countNews()))->withHeaders($vault->headers()));
$router->post('/comments', function (Request $request) use ($comments, $vault) {
    $comments->add((string)$request->input('text'));
    return (new RedirectResponse('/', 303))->withHeaders($vault->headers());
});
$router->post('/filter', function (Request $request) use ($comments, $vault) {
    $comments->filter((string)$request->input('word'));
    return (new Response('', 204))->withHeaders($vault->headers());
});

$router->dispatch($request)->send();
